import { expect, it } from 'vitest';
import { type DataDirectoryFacts, dataDirectory } from './data-directory.ts';

const linux: DataDirectoryFacts = { env: {}, platform: 'linux', home: '/home/ann', cwd: '/home/ann/project' };
const mac: DataDirectoryFacts = { env: {}, platform: 'darwin', home: '/Users/ann', cwd: '/' };
const windows: DataDirectoryFacts = { env: {}, platform: 'win32', home: 'C:\\Users\\ann', cwd: 'D:\\project' };

const cases: readonly (readonly [name: string, facts: DataDirectoryFacts, expected: string])[] = [
  ['Linux', linux, '/home/ann/.local/share/signalbox'],
  ['XDG_DATA_HOME', { ...linux, env: { XDG_DATA_HOME: '/data' } }, '/data/signalbox'],
  ['an empty XDG_DATA_HOME', { ...linux, env: { XDG_DATA_HOME: '' } }, '/home/ann/.local/share/signalbox'],
  ['a relative XDG_DATA_HOME', { ...linux, env: { XDG_DATA_HOME: 'data' } }, '/home/ann/.local/share/signalbox'],
  ['macOS', { ...mac, env: { XDG_DATA_HOME: '/data' } }, '/Users/ann/Library/Application Support/Signalbox'],
  ['Windows', { ...windows, env: { LOCALAPPDATA: 'E:\\Local' } }, 'E:\\Local\\Signalbox'],
  ['Windows without LOCALAPPDATA', windows, 'C:\\Users\\ann\\AppData\\Local\\Signalbox'],
  ['SIGNALBOX_DATA_DIR', { ...mac, env: { SIGNALBOX_DATA_DIR: '/mine' } }, '/mine'],
  ['a relative SIGNALBOX_DATA_DIR', { ...windows, env: { SIGNALBOX_DATA_DIR: 'mine' } }, 'D:\\project\\mine'],
  ['an empty SIGNALBOX_DATA_DIR', { ...linux, env: { SIGNALBOX_DATA_DIR: '' } }, '/home/ann/.local/share/signalbox'],
  [
    'the command line before the environment',
    { ...linux, asked: '../mine', env: { SIGNALBOX_DATA_DIR: '/other', XDG_DATA_HOME: '/data' } },
    '/home/ann/mine',
  ],
];

it.each(cases)('[A8] the data directory by %s', (_name, facts, expected) => {
  expect(dataDirectory(facts)).toBe(expected);
});
