/** A token that is recognisable from its vendor's documentation. */
export interface TokenShape {
  /** Its name in a mark. */
  readonly name: string;
  /** Every possible beginning. */
  readonly starts: readonly string[];
  /** Sticky, and tried only at one of `starts`. The secret is the group `secret` if present, else the whole match. */
  readonly pattern: RegExp;
}

const W = '[A-Za-z0-9]';
const U = '[A-Za-z0-9_-]';
/** Separators between a name and its value in configuration files and JSON. */
const IS = `\\\\?["']?\\s{0,4}[:=]\\s{0,4}\\\\?["']?`;
const HEX = '0123456789abcdef';

/**
 * Formats that vendors document or register with secret scanning programs. A format belongs here if its start is too distinctive
 * to occur in ordinary text and identifiers.
 */
export const tokenShapes: readonly TokenShape[] = [
  shape('github token', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], `gh[pousr]_${W}{36,255}`),
  shape('github token', ['github_pat_'], `github_pat_[A-Za-z0-9_]{22,255}`),
  shape(
    'gitlab token',
    ['glpat-', 'gldt-', 'glrt-', 'glrtr-', 'glcbt-', 'glptt-', 'glft-', 'glimt-', 'glagent-', 'gloas-', 'glsoat-'],
    `gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat)-[A-Za-z0-9_.-]{20,300}`,
  ),
  shape('anthropic key', ['sk-ant-'], `sk-ant-[a-z0-9]{3,12}-${U}{20,200}`),
  shape(
    'openai key',
    ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-None-'],
    `sk-(?:proj|svcacct|admin|None)-${U}{20,300}`,
  ),
  shape('openrouter key', ['sk-or-'], `sk-or-v1-[0-9a-f]{64}`),
  shape('api key', ['sk-'], `sk-${W}{32,128}(?!${U})`),
  shape(
    'aws access key',
    ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    `(?:AKIA|ASIA|ABIA|ACCA)(?![A-Z0-9]*EXAMPLE)[A-Z2-7]{16}(?!${W})`,
  ),
  shape(
    'aws secret key',
    ['aws_secret_access_key', 'AWS_SECRET_ACCESS_KEY', 'SecretAccessKey', 'secretAccessKey', 'secret_access_key'],
    `(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|[Ss]ecretAccessKey|secret_access_key)${IS}(?<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])`,
    'anywhere',
  ),
  shape(
    'aws session token',
    ['aws_session_token', 'AWS_SESSION_TOKEN', 'aws_security_token', 'AWS_SECURITY_TOKEN'],
    `(?:aws_se(?:ssion|curity)_token|AWS_SE(?:SSION|CURITY)_TOKEN)${IS}(?<secret>[A-Za-z0-9/+]{100,2000}={0,2})`,
    'anywhere',
  ),
  shape('aws bedrock key', ['ABSK'], `ABSK[A-Za-z0-9+/]{109,269}={0,2}`),
  shape('google api key', ['AIza'], `AIza${U}{35}`),
  shape('google oauth token', ['ya29.'], `ya29\\.${U}{20,400}`),
  shape('google oauth secret', ['GOCSPX-'], `GOCSPX-${U}{28}`),
  shape(
    'slack token',
    ['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xoxc-', 'xoxd-'],
    `xox[abceoprsd]-[A-Za-z0-9%-]{10,300}`,
  ),
  shape('slack token', ['xapp-', 'xoxe.'], `(?:xapp-\\d-|xoxe\\.xox[bp]-)[A-Za-z0-9-]{20,400}`),
  shape(
    'slack webhook',
    ['hooks.slack.com/'],
    `hooks\\.slack\\.com/(?<secret>(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,80})`,
  ),
  shape('discord webhook', ['/api/webhooks/'], `/api/webhooks/(?<secret>\\d{17,20}/${U}{60,80})`),
  shape('telegram bot token', [':AA'], `:(?<secret>AA${U}{33})(?!${U})`),
  shape('stripe key', ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'], `[sr]k_(?:live|test)_${W}{10,250}`),
  shape('stripe webhook secret', ['whsec_'], `whsec_[A-Za-z0-9+/=]{32,80}`),
  shape('npm token', ['npm_'], `npm_${W}{36}(?!${W})`),
  shape('pypi token', ['pypi-'], `pypi-AgE${U}{50,400}`),
  shape('hugging face token', ['hf_'], `hf_${W}{34,40}(?!${W})`),
  shape('groq key', ['gsk_'], `gsk_${W}{48,64}`),
  shape('xai key', ['xai-'], `xai-${W}{70,90}`),
  shape('perplexity key', ['pplx-'], `pplx-${W}{40,64}`),
  shape('replicate token', ['r8_'], `r8_${W}{37}`),
  shape('langsmith key', ['lsv2_'], `lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}`),
  shape('tavily key', ['tvly-'], `tvly-${U}{24,80}`),
  shape('sendgrid key', ['SG.'], `SG\\.${U}{16,32}\\.${U}{32,64}`),
  shape('mailgun key', ['key-'], `key-[0-9a-f]{32}(?!${W})`),
  shape(
    'twilio key',
    digits('SK', HEX).flatMap(start => digits(start, HEX)),
    `SK[0-9a-f]{32}(?!${W})`,
  ),
  shape('digitalocean token', ['dop_v1_', 'doo_v1_', 'dor_v1_'], `do[opr]_v1_[0-9a-f]{64}`),
  shape('shopify token', ['shpat_', 'shpca_', 'shppa_', 'shpss_'], `shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}`),
  shape('azure storage key', ['AccountKey='], `AccountKey=(?<secret>[A-Za-z0-9+/]{86}==)`),
  shape('azure shared key', ['SharedAccessKey='], `SharedAccessKey=(?<secret>[A-Za-z0-9+/]{43}=)`),
  shape(
    'connection password',
    [';Password=', ';password=', ';Pwd=', ';pwd=', ';PASSWORD=', ';PWD='],
    `;(?:[Pp]assword|PASSWORD|[Pp]wd|PWD)=(?<secret>[^;\\s"'<>\`\\\\{}$[]{3,200})(?=;|$|["'\\s])`,
  ),
  shape('azure client secret', ['8Q~', '7Q~'], `[78]Q~[A-Za-z0-9_~.-]{31,34}`, 'anywhere'),
  shape('databricks token', ['dapi'], `dapi[0-9a-f]{32}(?:-\\d)?(?!${W})`),
  shape('docker token', ['dckr_pat_', 'dckr_oat_'], `dckr_[po]at_${U}{27,60}`),
  shape('vault token', ['hvs.', 'hvb.', 'hvr.'], `hv[sbr]\\.${U}{24,300}`),
  shape('terraform token', ['.atlasv1.'], `\\.atlasv1\\.(?<secret>${U}{60,70})`),
  shape('linear key', ['lin_api_', 'lin_oauth_'], `lin_(?:api|oauth)_${W}{40,64}`),
  shape('notion token', ['ntn_'], `ntn_${W}{40,60}`),
  shape('postman key', ['PMAK-'], `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`),
  shape('figma token', ['figd_'], `figd_${U}{40,60}`),
  shape('atlassian token', ['ATATT3', 'ATCTT3'], `AT[AC]TT3[A-Za-z0-9_=-]{60,250}`),
  shape('sentry token', ['sntrys_', 'sntryu_'], `sntry(?:s_eyJ[A-Za-z0-9+/=_-]{40,400}|u_[0-9a-f]{64})`),
  shape('grafana token', ['glsa_', 'glc_'], `(?:glsa_${W}{32}_[0-9a-f]{8}|glc_eyJ[A-Za-z0-9+/=]{40,400})`),
  shape('new relic key', ['NRAK-'], `NRAK-[A-Z0-9]{27}`),
  shape('supabase key', ['sb_secret_', 'sbp_'], `(?:sb_secret_${U}{20,60}|sbp_[0-9a-f]{40})`),
  shape('netlify token', ['nfp_'], `nfp_${W}{36,40}`),
  shape('fly token', ['fm2_', 'fo1_'], `(?:fm2_[A-Za-z0-9+/=_-]{80,2000}|fo1_${U}{40,60})`),
  shape('doppler token', ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.'], `dp\\.(?:pt|st|ct|sa)\\.[A-Za-z0-9_.-]{40,60}`),
  shape('1password token', ['ops_eyJ'], `ops_eyJ[A-Za-z0-9+/=_-]{100,2000}`),
  shape('pulumi token', ['pul-'], `pul-[0-9a-f]{40}`),
  shape('rubygems key', ['rubygems_'], `rubygems_[0-9a-f]{48}`),
  shape(
    'planetscale password',
    ['pscale_pw_', 'pscale_tkn_', 'pscale_oauth_'],
    `pscale_(?:pw|tkn|oauth)_[A-Za-z0-9_.=-]{30,64}`,
  ),
  shape('square token', ['sq0atp-', 'sq0csp-'], `sq0(?:atp|csp)-${U}{22,43}`),
  shape('airtable token', ['pat'], `pat${W}{14}\\.[0-9a-f]{64}`),
  shape('mapbox token', ['sk.eyJ'], `sk\\.eyJ${U}{40,200}\\.${U}{16,64}`),
  shape('dynatrace token', ['dt0c01.'], `dt0c01\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}`),
  shape('contentful token', ['CFPAT-'], `CFPAT-${U}{43}`),
  shape('age key', ['AGE-SECRET-KEY-1'], `AGE-SECRET-KEY-1[A-Z0-9]{58}`),
  shape('signalbox token', ['sbx_'], `sbx_${U}{43}(?!${U})`),
  shape('signalbox token', ['tab.1', 'tab.2'], `tab\\.\\d{13,15}\\.${U}{22}(?:\\.${U}{1,90})?\\.[0-9a-f]{64}`),
  shape('json web token', ['eyJ'], `eyJ${U}{8,2000}\\.eyJ${U}{8,8000}\\.${U}{16,1400}`),
  shape(
    'private key',
    ['-----BEGIN '],
    `-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----[\\s\\S]*?(?:-----END (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----|$)`,
  ),
  shape('bearer token', ['Bearer ', 'bearer '], `[Bb]earer +(?<secret>[A-Za-z0-9._~+/-]{20,4000}=*)`),
  shape(
    'basic credentials',
    ['Basic ', 'basic '],
    `[Bb]asic +(?<secret>[A-Za-z0-9+/]{16,2000}={0,2})(?![A-Za-z0-9+/=])`,
  ),
  // JSON may escape the slashes, and a URL in a URL has everything escaped.
  shape(
    'url password',
    ['%3A%2F%2F', '%3a%2f%2f'],
    `%3[Aa]%2[Ff]%2[Ff](?:[^\\s/?#@:%"'<>\`\\\\]|%(?!3[Aa]|2[Ff]|40)[0-9A-Fa-f]{2}){0,200}%3[Aa](?<secret>(?:[^\\s/?#@:%"'<>\`\\\\{}$]|%(?!2[Ff]|40)[0-9A-Fa-f]{2}){3,400})(?=%40)`,
  ),
  shape(
    'url password',
    ['://', ':\\/\\/'],
    `:(?:\\\\?/){2}[^\\s/?#@:"'<>\`\\\\]{0,200}:(?<secret>[^\\s/?#@"'<>\`\\\\{}$]{3,400})(?=@)`,
  ),
];

/** A start that is a word must not be the end of a longer one. */
function shape(
  name: string,
  starts: readonly string[],
  pattern: string,
  where: 'at a word' | 'anywhere' = 'at a word',
): TokenShape {
  const isWord = where === 'at a word' && starts.every(start => /^\w/.test(start));
  return { name, starts, pattern: new RegExp(`${isWord ? '(?<![A-Za-z0-9])' : ''}${pattern}`, 'dy') };
}

function digits(start: string, each: string): readonly string[] {
  return [...each].map(digit => start + digit);
}
