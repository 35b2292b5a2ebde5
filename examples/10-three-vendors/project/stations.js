/** Stations on the line, in order. */
export const stations = ['Ashford', 'Canterbury', 'Dover'];
