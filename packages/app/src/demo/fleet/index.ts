export { playScenario, type ScenarioChoice, scenarioChoice, scenarioPlugins } from './scenario.ts';
