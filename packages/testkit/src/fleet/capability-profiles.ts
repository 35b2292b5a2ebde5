import type { PluginCapabilities } from '@signalbox/model';

/** Capabilities of a mock plugin: all of them, those of two vendors, and the fewest. */
export const capabilityProfiles = {
  all: { supportsPause: true, supportsResume: true, supportsKill: true, supportsHotBriefUpdate: true },
  claude: { supportsPause: false, supportsResume: true, supportsKill: true, supportsHotBriefUpdate: false },
  openai: { supportsPause: true, supportsResume: true, supportsKill: true, supportsHotBriefUpdate: false },
  minimal: { supportsPause: false, supportsResume: false, supportsKill: true, supportsHotBriefUpdate: false },
} as const satisfies Readonly<Record<string, PluginCapabilities>>;
export type CapabilityProfile = keyof typeof capabilityProfiles;
