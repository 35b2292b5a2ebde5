import { expect, it } from 'vitest';
import { isSecretName } from './secret-names.ts';
import { secretsOf } from './secret-variables.ts';

/** Names as programs and platforms document them. */
const secret = `
  ANTHROPIC_API_KEY OPENAI_API_KEY OPENAI_APIKEY GITHUB_TOKEN GH_TOKEN GITHUB_TOKEN_2 GITLAB_PRIVATE_TOKEN CI_JOB_TOKEN
  NPM_TOKEN NODE_AUTH_TOKEN NPM_CONFIG__AUTH AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_BEARER_TOKEN_BEDROCK
  AZURE_CLIENT_SECRET AZURE_CLIENT_SECRET_VALUE AZURE_STORAGE_KEY AZURE_STORAGE_ACCOUNT_KEY GOOGLE_CREDENTIALS
  GOOGLE_CREDENTIALS_JSON GOOGLE_API_KEY GCP_SA_KEY FIREBASE_PRIVATE_KEY PRIVATE_KEY_PEM SSH_KEY_CONTENT SSH_PRIVATE_KEY
  DEPLOY_KEY_PROD SECRET_KEY_BASE DJANGO_SECRET_KEY RAILS_MASTER_KEY APP_KEY JWT_SECRET JWT_SECRET_OLD SESSION_SECRET
  COOKIE_SECRET NEXTAUTH_SECRET DATABASE_PASSWORD DB_PASS DB_PASS_PROD DB_PWD PGPASSWORD MYSQL_ROOT_PASSWORD
  MYSQL_PWD POSTGRES_PASSWORD REDIS_PASSWORD SMTP_PASSWORD GPG_PASSPHRASE SIGNING_KEY_PASSWORD KEYSTORE_PASSWORD
  STRIPE_SECRET_KEY STRIPE_WEBHOOK_SECRET TWILIO_AUTH_TOKEN SLACK_BOT_TOKEN DISCORD_TOKEN TELEGRAM_BOT_TOKEN SENTRY_DSN
  SENTRY_AUTH_TOKEN DOCKER_PASSWORD DOCKERHUB_TOKEN HF_TOKEN VAULT_TOKEN VAULT_SECRET_ID TF_TOKEN_app_terraform_io
  CREDS SERVICE_CREDS BASIC_AUTH HTTP_AUTHORIZATION GITHUB_PAT AZURE_DEVOPS_EXT_PAT SESSION_COOKIE dbPassword apiKey
  github.token CLOUDFLARE_API_TOKEN ENCRYPTION_KEYS LICENSE_KEY
`
  .trim()
  .split(/\s+/);

const plain = `
  PATH HOME PWD OLDPWD SHELL LANG TERM USER LOGNAME EDITOR NODE_ENV NODE_PATH AWS_REGION AWS_PROFILE AWS_ACCESS_KEY_ID
  SSH_AUTH_SOCK SSH_ASKPASS GIT_ASKPASS GIT_AUTHOR_NAME XAUTHORITY KEYBOARD_LAYOUT XKB_KEYMAP MAX_TOKENS OPENAI_MAX_TOKENS
  CLAUDE_CODE_MAX_OUTPUT_TOKENS MAX_THINKING_TOKENS TOKEN_COUNT PROMPT_TOKEN_COUNT TOKEN_LIMIT TOKEN_TTL
  TOKEN_URL OAUTH_TOKEN_ENDPOINT GITHUB_TOKEN_FILE POSTGRES_PASSWORD_FILE SSL_KEY_PATH SSH_KEY_FILE AWS_WEB_IDENTITY_TOKEN_FILE
  SECRET_NAME SECRETS_DIR PASSWORD_POLICY PASSWORD_MIN_LENGTH KEY_ID GPG_KEY_ID SIGNING_KEY_FINGERPRINT PUBLIC_KEY
  STRIPE_PUBLISHABLE_KEY PRIMARY_KEY PARTITION_KEY SORT_KEY CACHE_KEY AUTH_METHOD AUTH_URL COOKIE_NAME CREDENTIAL_HELPER
  MONKEY TURKEY_REGION BYPASS_CACHE PASSENGER_APP_ENV COMPASS_CONFIG AUTHOR SECRETARY TOKENIZERS_PARALLELISM
  JWT_ALGORITHM JWT_ISSUER SESSION_TOKEN_LIFETIME API_KEY_HEADER DISPLAY
`
  .trim()
  .split(/\s+/);

it.each(secret)('[A346] %s is the name of a secret', name => {
  expect(isSecretName(name)).toBe(true);
});

it.each(plain)('[A346] %s is not', name => {
  expect(isSecretName(name)).toBe(false);
});

it('[A346] a connection string is secret, and so is each password in it', () => {
  const strings: Readonly<Record<string, string>> = {
    'Server=tcp:h;User ID=a;Password=adoPassw0rdZZ9;': 'adoPassw0rdZZ9',
    'Server=h;Uid=a;Pwd="quoted;Passw0rd"': 'quoted;Passw0rd',
    'Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey=sharedKey123=': 'sharedKey123=',
    'DefaultEndpointsProtocol=https;AccountName=n;AccountKey=accountKey123==;EndpointSuffix=x': 'accountKey123==',
    "host=h user=a password='libpq passw0rd' dbname=d": 'libpq passw0rd',
    'app:mysqlPassw0rd@tcp(db:3306)/app': 'mysqlPassw0rd',
    'postgres://a:urlPassw0rd@h/d': 'urlPassw0rd',
    'jdbc:postgresql://h/d?user=a&password=jdbcPassw0rd': 'jdbcPassw0rd',
  };
  for (const [text, password] of Object.entries(strings)) {
    for (const name of ['SQL_CONNECTION_STRING', 'CONNECTIONSTRINGS__MAIN', 'DATABASE_URL', 'APP_DSN']) {
      const values = secretsOf({ [name]: text }).secrets.map(({ value }) => value);
      expect([name, text, values.includes(password)]).toEqual([name, text, true]);
    }
    const whole = secretsOf({ SQL_CONNECTION_STRING: text }).secrets.map(({ value }) => value);
    expect(whole).toContain(text);
  }
  expect(secretsOf({ CONNECTION_STRING: 'Server=h;Integrated Security=true' }).secrets).toEqual([]);
  expect(secretsOf({ HOME_URL: 'https://example.com/?page=1&size=20' }).secrets).toEqual([]);
});
