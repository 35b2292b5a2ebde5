/** What is known of a request by the time a route sees it. */
export interface Asked {
  readonly Variables: {
    /** Who asks: whoever the token belongs to. Events name them. */
    readonly user: string;
  };
}
