# ruff: noqa: E501 - a table is read by its columns
"""A table of vendors' token formats.

A row is a vendor, the prefixes of its tokens and a pattern for what follows them. Tokens are
searched only at word boundaries.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import cache

from flyball.regex import regex
from flyball.workspace.redaction.judge import alternates, is_unspoken

_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"

VENDORS: tuple[tuple[str, str, str], ...] = (
    ("1Password", "ops_", r"eyJ[\w\-=]{40,4096}"),
    ("1Password", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    ("Adafruit", "aio_", r"[A-Za-z0-9]{28}"),
    ("Age", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,64}"),
    ("Airtable", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("Alibaba", "LTAI", r"[A-Za-z0-9]{12,24}(?![A-Za-z0-9])"),
    ("Amazon MWS", "amzn.mws.", _UUID),
    ("Anthropic", "sk-ant-", r"[\w\-]{16,255}"),
    ("Apify", "apify_api_", r"[A-Za-z0-9]{30,60}"),
    ("a binary repository", "AKCp cmVmdGtuOj", r"[A-Za-z0-9]{50,80}"),
    ("Asana", "1/ 2/", r"[0-9]{14,18}(?:/[0-9]{14,18})?:[0-9a-f]{32}"),
    ("Atlassian", "ATATT3 ATCTT3 ATOA", r"[\w\-=]{60,255}"),
    ("Authress", "sc_ ext_ scauth_ authress_", r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9\-]{10,32}\.[\w+/=\-]{30,120}"),
    ("AWS", "AKIA ASIA AGPA AIDA AROA ANPA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("AWS Bedrock", "ABSK bedrock-api-key-", r"[\w+/\-]{60,4096}={0,2}"),
    ("AWS session", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", r"[\w+/\-]{40,4096}={0,2}"),
    ("Bitbucket", "ATBB", r"[A-Za-z0-9]{28,40}"),
    ("Brave", "BSA", r"[\w\-]{26,40}"),
    ("Brevo", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("Browserbase", "bb_live_ bb_test_", r"[\w\-]{20,60}"),
    ("Buildkite", "bkua_ bkaj_ bkct_ bkat_", r"[A-Za-z0-9]{20,60}"),
    ("Cerebras", "csk-", r"[a-z0-9]{40,64}"),
    ("CircleCI", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9]{10,40}_[0-9a-f]{40}"),
    ("Clerk, Stripe, WorkOS, Paystack", "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_ sk_prod_", r"[A-Za-z0-9]{10,255}"),
    ("Clojars", "CLOJARS_", r"[0-9a-z]{50,64}"),
    ("Cloudflare", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,160}"),
    ("Cloudflare", "cfut_ cfat_ cfk_", r"[\w\-]{30,80}"),
    ("Contentful", "CFPAT-", r"[\w\-]{40,64}"),
    ("crates.io", "cio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("Databricks", "dapi dkea", r"[0-9a-f]{32}(?:-\d)?"),
    ("Datadog", "ddapp_ ddapi_", r"[A-Za-z0-9]{30,60}"),
    ("Depot", "depot_", r"[A-Za-z0-9_]{40,90}"),
    ("DigitalOcean", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,128}"),
    ("Discord", "M N O", r"[A-Za-z0-9]{22,27}\.[\w\-]{6}\.[\w\-]{25,40}"),
    ("Docker", "dckr_pat_ dckr_oat_", r"[\w\-]{20,255}"),
    ("Docker's logins", "eyJhdXRocyI6", r"[A-Za-z0-9+/]{16,8192}={0,2}"),
    ("Doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[\w.\-]{30,80}"),
    ("Dropbox", "sl. sl.u.", r"[\w\-]{100,1500}"),
    ("Duffel", "duffel_live_ duffel_test_", r"[\w\-=]{40,50}"),
    ("Dynatrace", "dt0c01. dt0s01. dt0s02. dt0s16.", r"[A-Z0-9]{8,24}\.[A-Z0-9]{60,68}"),
    ("E2B", "e2b_", r"[0-9a-f]{40}"),
    ("EasyPost", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
    ("Facebook", "EAAC EAAM EAAA EAAG", r"[A-Za-z0-9]{60,255}"),
    ("Fauna", "fnAE fnAD fnAF", r"[\w\-]{30,60}"),
    ("Figma", "figd_ figo_ figu_ figoh_", r"[\w\-]{30,64}"),
    ("Firecrawl", "fc-", r"[0-9a-f]{32}"),
    ("Fireworks", "fw_", r"[A-Za-z0-9]{20,40}"),
    ("Flutterwave", "FLWSECK- FLWSECK_TEST- FLWPUBK_TEST- FLWPUBK-", r"[A-Za-z0-9]{12,40}(?:-X)?"),
    ("Fly.io", "fo1_ fm1r_ fm1a_ fm2_", r"[\w+/=,\-]{40,4096}"),
    ("Frame.io", "fio-u-", r"[\w\-=]{50,80}"),
    ("Freemius, Knock, Svix", "testsk_ sk_", r"[A-Za-z0-9+/.\-]{32,80}"),
    ("GitHub", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,255}"),
    ("GitHub", "github_pat_", r"\w{22,255}"),
    ("GitLab", "glpat- glptt- glrt- gldt- glcbt- glsoat- glft- glimt- glagent- gloas- glffct- glwt-", r"[\w.\-]{20,255}"),
    ("GitLab", "GR1348941 _gitlab_session=", r"[\w\-]{20,64}"),
    ("GoCardless, Lob, Mollie", "live_", r"[A-Za-z0-9]{30,64}(?![\w])"),
    ("Google", "AQ.Ab", r"[\w\-]{40,80}"),
    ("Google", "AIza", r"[\w\-]{35}"),
    ("Google", "ya29. GOCSPX- 1//0", r"[\w\-]{20,512}"),
    ("Grafana", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    ("Grafana", "glc_", r"[A-Za-z0-9+/]{32,400}={0,3}"),
    ("Groq", "gsk_", r"[A-Za-z0-9]{20,255}"),
    ("Harness", "pat. sat.", r"[\w\-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    ("HashiCorp Vault", "hvs. hvb. hvr.", r"[\w\-]{24,255}"),
    ("HashiCorp Vault", "s. b. r.", r"(?=[A-Za-z]*\d+[A-Za-z]+\d)[A-Za-z0-9]{24}(?![\w.])"),
    ("Heroku", "HRKU-", rf"(?:{_UUID}|[\w\-]{{40,70}})"),
    ("HubSpot", "pat-na1- pat-na2- pat-eu1- pat-ap1-", _UUID),
    ("Hugging Face", "hf_ api_org_", r"[A-Za-z0-9]{20,255}"),
    ("Infracost", "ico-", r"[A-Za-z0-9]{32}"),
    ("Intra42", "s-s4t2ud- s-s4t2af-", r"[0-9a-f]{64}"),
    ("Jina", "jina_", r"[\w\-]{40,80}"),
    ("LangSmith", "lsv2_pt_ lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{10}"),
    ("LaunchDarkly", "sdk- mob- api-", _UUID),
    ("Linear", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{30,64}"),
    ("LinkedIn", "WPL_AP0. WPL_AP1.", r"[\w.+/=\-]{12,64}"),
    ("MailerSend", "mlsn.", r"[0-9a-f]{64}"),
    ("Mailgun", "key- pubkey-", r"[0-9a-f]{32}(?![0-9a-f])"),
    ("Mapbox", "sk.eyJ tk.eyJ pk.eyJ", r"[\w\-]{20,255}\.[\w\-]{20,64}"),
    ("Meta Llama", "LLM|", r"\d{8,24}\|[\w\-]{20,64}"),
    ("Neon", "napi_", r"[a-z0-9]{40,80}"),
    ("Netlify", "nfp_ nfc_ nfo_ nfu_ nfb_", r"[\w\-]{30,64}"),
    ("New Relic", "NRAK- NRII- NRAA- NRRA- NRJS- NRIQ- NRSP-", r"[A-Za-z0-9\-]{15,64}"),
    ("Notion", "ntn_ secret_", r"[A-Za-z0-9]{40,64}"),
    ("npm", "npm_", r"[A-Za-z0-9]{30,255}"),
    ("NuGet", "oy2", r"[a-z0-9]{43}"),
    ("NVIDIA", "nvapi-", r"[\w\-]{40,90}"),
    ("Octopus", "API-", r"[A-Z0-9]{25,36}(?![A-Za-z0-9])"),
    ("OpenAI", "sk-proj- sk-svcacct- sk-admin- sk-or- sk-lf- pk-lf- sk-helicone-", r"[\w\-]{16,255}"),
    ("OpenAI, DeepSeek", "sk-", r"[A-Za-z0-9]{20,255}"),
    ("OpenShift", "sha256~", r"[\w\-]{43}"),
    ("Open VSX", "ovsxp_ ovsxat_", _UUID),
    ("Ory", "ory_pat_ ory_st_ ory_at_ ory_rt_ ory_ac_ ory_apikey_", r"[\w.\-]{20,128}"),
    ("PayPal", "A21AA access_token$production$ access_token$sandbox$", r"[\w$\-]{30,120}"),
    ("Perplexity, xAI", "pplx- xai-", r"[A-Za-z0-9]{20,255}"),
    ("Pinecone", "pcsk_", r"\w{40,90}"),
    ("Pinterest", "pina_", r"[A-Za-z0-9]{40,100}"),
    ("Plaid", "access-sandbox- access-development- access-production-", _UUID),
    ("PlanetScale", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.=\-]{32,64}"),
    ("PostHog", "phx_ phc_ phs_", r"[A-Za-z0-9]{40,64}"),
    ("Postman", "PMAK- PMAT-", r"[0-9A-Za-z]{20,32}-?[0-9A-Za-z]{0,40}"),
    ("Prefect", "pnu_ pnb_", r"[A-Za-z0-9]{36}"),
    ("PubNub", "sec-c-", r"[A-Za-z0-9\-]{36,60}"),
    ("Pulumi", "pul-", r"[0-9a-f]{40}"),
    ("PyPI", "pypi-", r"[\w\-]{40,512}"),
    ("Razorpay", "rzp_live_ rzp_test_", r"[A-Za-z0-9]{14,32}"),
    ("ReadMe", "rdme_", r"[a-z0-9]{60,80}"),
    ("Render", "rnd_", r"[A-Za-z0-9]{20,40}"),
    ("Replicate", "r8_", r"[A-Za-z0-9]{20,255}"),
    ("Resend", "re_", r"[A-Za-z0-9]{8,12}_[A-Za-z0-9]{16,32}"),
    ("RFC 8959", "secret-token:", r"[\w.~%!$&'()*+,;=:@/\-]{8,512}"),
    ("Rootly", "rootly_", r"[0-9a-f]{64}"),
    ("RubyGems", "rubygems_", r"[0-9a-f]{48}"),
    ("RunPod", "rpa_", r"[A-Za-z0-9]{40,60}"),
    ("Scalingo", "tk-us-", r"[\w\-]{40,60}"),
    ("Scaleway", "SCW", r"[A-Z0-9]{17}(?![A-Za-z0-9])"),
    ("SendGrid", "SG.", r"[\w\-]{16,64}\.[\w\-]{16,128}"),
    ("Sentry", "sntrys_ sntryu_ sntrya_ sntryi_", r"[\w+/=\-]{30,512}"),
    ("SettleMint", "sm_aat_ sm_pat_ sm_sat_", r"[A-Za-z0-9]{16}"),
    ("Shippo", "shippo_live_ shippo_test_", r"[0-9a-fA-F]{40}"),
    ("Shopify", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[0-9a-fA-F]{32}"),
    ("Slack", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxp- xoxe.xoxb- xapp-", r"[A-Za-z0-9%+/=\-]{10,512}"),
    ("Snyk", "snyk_uat. snyk_sat.", r"[\w.\-]{20,128}"),
    ("SonarQube", "squ_ sqp_ sqa_", r"[0-9a-f]{40}"),
    ("Sourcegraph", "sgp_ slk_ sgph_", r"(?:[\w]{8,40}_)?[0-9a-f]{40,64}"),
    ("Square", "sq0atp- sq0csp- sq0idp-", r"[\w\-]{22,64}"),
    ("StackHawk", "hawk.", r"[\w\-]{18,24}\.[\w\-]{18,24}"),
    ("Stripe", "whsec_", r"[A-Za-z0-9+/=]{20,255}"),
    ("Stytch", "secret-live- secret-test-", r"[\w\-=]{30,64}"),
    ("Supabase", "sbp_ sb_secret_", r"[\w\-]{20,64}"),
    ("Tailscale", "tskey-", r"(?:[a-z]{2,12}-)?[A-Za-z0-9]{8,32}(?:-[A-Za-z0-9]{16,64})?"),
    ("Tavily", "tvly-", r"[A-Za-z0-9\-]{20,64}"),
    ("Tinybird", "p.eyJ", r"[\w\-]{20,512}\.[\w\-]{20,64}"),
    ("Together", "tgp_v1_", r"[\w\-]{40,64}"),
    ("Trello", "ATTA", r"[0-9a-f]{60,80}"),
    ("Twilio", "AC", r"[0-9a-f]{32}:[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("Twilio", "SK", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("Twitch", "oauth:", r"[a-z0-9]{30}"),
    ("Twitter", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{40,120}"),
    ("Typeform", "tfp_", r"[\w.=\-]{40,64}"),
    ("Vercel", "vercel_ vcp_ vci_ vca_ vcr_ vck_", r"[A-Za-z0-9]{24,64}"),
    ("Voyage", "pa-", r"[\w\-]{43}(?![\w\-])"),
    ("WakaTime", "waka_", rf"(?:tok_|sec_|ref_)?(?:{_UUID}|\w{{60,90}})"),
    ("Weights & Biases", "wandb_v1_", r"\w{40,100}"),
    ("Xata", "xau_", r"[A-Za-z0-9]{30,64}"),
    ("Yandex", "AQVN y0_ t1.", r"[\w\-]{35,40}(?![\w\-])|[\w\-=]{4,400}\.[\w\-]{60,90}|[\w\-]{50,90}"),
    ("Zuplo", "zpka_", r"[a-z0-9]{32}_[0-9a-f]{8}"),
    ("Axiom", "xaat- xapt-", _UUID),
    ("Cursor", "crsr_", r"[0-9a-f]{64}"),
    ("Discord", "mfa.", r"[\w\-]{84}(?![\w\-])"),
    ("Honeycomb", "hcaik_ hcaic_ hcamk_", r"[a-z0-9]{58}"),
    ("Infisical", "st.", r"[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    ("Inngest", "signkey-prod- signkey-test-", r"[0-9a-f]{32,64}"),
    ("Kaggle", "KGAT_", r"[0-9a-f]{32}"),
    ("Liveblocks", "sk_prod_ sk_dev_", r"[\w\-]{48,80}"),
    ("Mercado Pago", "APP_USR- TEST-", r"\d{10,20}-\d{6}-[0-9a-f]{32}-\d{6,12}"),
    ("Paddle", "pdl_live_apikey_ pdl_sdbx_apikey_", r"[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}"),
    ("PASETO", "v1.local. v2.local. v3.local. v4.local.", r"[\w\-]{60,4096}"),
    ("Adobe", "p8e-", r"[A-Za-z0-9]{32}"),
    ("ASP.NET", "CfDJ8", r"[\w\-]{40,8192}"),
    ("Azure", "0.A 1.A", r"[\w\-]{50,400}(?:\.\d)?\.Ag[\w\-]{100,4096}(?:\.A[\w\-]{100,4096})?"),
    ("Bitbucket", "BBDC-", r"[\w+/@\-]{40,50}"),
    ("Braintree, Klaviyo", "pk_", r"(?:[A-Za-z0-9]{6}_)?[0-9a-f]{34}"),
    ("Buildbot", "bb_pr_ bb_ma_", r"[0-9a-f]{30}"),
    ("ClickHouse", "4b1d", r"[A-Za-z0-9]{38}(?![A-Za-z0-9])"),
    ("Close", "api_", r"[A-Za-z0-9]{20,24}\.[A-Za-z0-9]{20,24}(?![\w.])"),
    ("Defined Networking", "dnkey-", r"[\w\-=]{26}-[\w\-=]{52}"),
    ("dfuse", "web_", r"[0-9a-z]{32}(?!\w)"),
    ("Endor Labs", "endr+", r"[A-Za-z0-9\-]{16}"),
    ("Fleetbase, Pagar.me", "flb_live_ ak_live_", r"[A-Za-z0-9]{20,30}"),
    ("Formsite", "na1.", r"[A-Za-z0-9+/]{100}"),
    ("Gemini", "account- master-", r"(?=[a-z0-9]*[A-Z])(?=[A-Za-z]*\d)[A-Za-z0-9]{20}(?![\w\-])"),
    ("Grafana", "eyJrIjoi", r"[A-Za-z0-9]{60,400}={0,3}"),
    ("New Relic", "NRBR-", r"[0-9a-f]{19}"),
    ("Kagi", "api-", r"[A-Za-z0-9]{20,40}-kagi"),
    ("Nightfall", "NF-", r"[A-Za-z0-9]{32}(?![\w\-])"),
    ("Okta", "00", r"(?=[\w\-]*[a-z])(?=[\w\-]*[A-Z])[\w\-]{40}(?![\w\-])"),
    ("PubNub", "sub-c- pub-c-", _UUID),
    ("Recharge", "sk_ sk_test_", r"\d{1,2}x\d_[0-9a-fA-F]{64}"),
    ("SaladCloud", "salad_cloud_", r"[A-Za-z0-9]{1,7}_[A-Za-z0-9]{7,235}"),
    ("Salesforce", "3MVG9 5AEP861", r"[\w.+/=]{80,251}"),
    ("Square", "sandbox-sq0c sandbox-sq0i", r"[a-z]{2}-[\w\-]{22,64}"),
    ("Stripe", "pi_ seti_", r"[A-Za-z0-9]{24}_secret_[A-Za-z0-9]{25}"),
    ("Truffle Security", "thog-secret-", r"[0-9a-f]{32}"),
    ("Ubidots", "BBFF-", r"[A-Za-z0-9]{30}"),
    ("Intra42", "u-s4t2ud- u-s4t2af-", r"[0-9a-f]{64}"),
    ("Voiceflow", "VF.", r"(?:(?:DM|WS)\.)?[0-9a-fA-F]{24}\.[A-Za-z0-9]{16}"),
    ("Yandex", "YC", r"(?=[\w\-]*\d)[\w\-]{38}(?![\w\-])"),
    ("Zoho", "1000.", r"[0-9a-f]{32}\.[0-9a-f]{32}"),
    ("JSON Web Token", "eyJ", r"[\w\-]{8,4096}\.[\w\-]{8,8192}\.[\w\-]{8,2048}(?:\.[\w\-]{8,8192}){0,2}"),
    ("JSON Web Encryption", "eyJ", r"[\w\-]{8,4096}\.\.[\w\-]{8,64}\.[\w\-]{8,8192}\.[\w\-]{8,64}"),
    ("password hash", "$1$ $2a$ $2b$ $2x$ $2y$ $5$ $6$ $7$ $y$ $gy$ $apr1$ $argon2id$ $argon2i$ $argon2d$ $sha1$ $scrypt$ $pbkdf2", r"[\w./$,=+\-]{20,255}"),
)  # fmt: skip

INNER: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("Azure", "Q~", regex(r"(?<![\w.~\-])[\w.~]{3}\dQ~[\w.~\-]{31,34}(?![\w.~\-])")),
    ("Azure DevOps", "AZDO", regex(r"(?<![A-Za-z0-9])[A-Za-z0-9]{70,80}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])")),
    *(
        ("Azure", mark, regex(rf"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{{30,80}}{mark}[A-Za-z0-9+/]{{4,12}}={{0,2}}(?![A-Za-z0-9+/=])"))
        for mark in ("AzSe", "AzFu", "ACDb", "ACOG", "APIM", "AIoT", "ASbT", "AEhS", "ACR")
    ),
    ("Firebase", ":APA91b", regex(r"(?<![\w\-])[\w\-]{11,22}:APA91b[\w\-]{100,200}")),
    ("Salesforce", "00D", regex(r"(?<![A-Za-z0-9])00D[A-Za-z0-9]{12,15}![\w.]{60,120}")),
    ("Azure storage", "+ASt", regex(r"[A-Za-z0-9+/]{70,80}\+ASt[A-Za-z0-9+/]{6,12}={0,2}")),
    ("Mailchimp", "-us", regex(r"(?<![0-9a-z])[0-9a-f]{32}-us\d{1,2}(?![0-9a-z])")),
    ("MaxMind", "_mmk", regex(r"(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?!\w)")),
    ("New Relic", "NRAL", regex(r"(?<![0-9a-zA-Z])(?:eu01xx)?[0-9a-f]{26,40}(?:FFFF)?NRAL(?![A-Za-z0-9])")),
    ("New Relic", "-NRMA", regex(r"(?<![0-9a-zA-Z])(?:AA|eu01xx)[0-9a-f]{36,40}-NRMA(?![A-Za-z0-9])")),
    ("Facebook", "|", regex(r"(?<!\w)\d{15,16}[|][\w\-]{27,40}(?![\w\-])")),
    ("Tableau", "==:", regex(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{22}==:[A-Za-z0-9]{32}(?![A-Za-z0-9])")),
    ("LDAP", "SHA", regex(r"(?<=\})(?<=SHA\}|256\}|384\}|512\})[A-Za-z0-9+/]{20,256}={0,2}")),
    ("Tines", ".tines.com/", regex(r"(?<=\.tines\.com/)webhook/[0-9a-z]{32}/[0-9a-z]{32}")),
    ("Telegram", ":AA", regex(r"(?<![\w/])(?:bot)?[0-9]{8,10}:AA[\w\-]{32,36}")),
    ("Terraform", ".atlasv1.", regex(r"[A-Za-z0-9]{14}\.atlasv1\.[\w\-=]{40,80}")),
    ("Slack", "hooks.slack.com/", regex(r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[A-Z0-9]{6,16}/[A-Z0-9]{6,16}/[\w/]{16,90}")),
    ("Discord", "/webhooks/", regex(r"(?<=/webhooks/)\d{15,22}/[\w\-]{40,90}")),
    ("Teams", ".webhook.office.com/", regex(r"(?<=\.webhook\.office\.com/)webhookb2/[\w@/\-]{60,255}")),
    ("Zapier", "hooks.zapier.com/", regex(r"(?<=hooks\.zapier\.com/)hooks/catch/\d{4,12}/\w{5,20}")),
    ("Telegram", "/bot", regex(r"(?<=/bot)[0-9]{8,10}:[\w\-]{30,40}")),
)  # fmt: skip
"""Tokens without a prefix: a vendor, a text inside them, and their pattern."""


_IN_TOKENS = frozenset((string.ascii_letters + string.digits + "_-.$:|~").encode())
_TOKEN_BYTES = bytes(ord("a") if byte in _IN_TOKENS else ord(" ") for byte in range(256))
_LONG = b"a" * 16
"""Minimum token length: shorter runs of token characters need no search."""
_LONGEST_CUT = 5
"""Maximum length of a token's part before such a run, as in `endr+…`."""


def vendor_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of known vendors' tokens."""
    starts, follow = _compiled()
    at = 0
    for first, last in _long_runs(text):
        at = max(at, first - _LONGEST_CUT)
        while match := starts.search(text, at, last):
            at = match.end()
            for length, rest in follow[match[0]]:
                found = rest.match(text, match.start() + length)
                if found and _is_random(text[match.start() + 1 : found.end()]):
                    at = found.end()
                    yield match.start(), at
                    break
    for _, inside, pattern in INNER:
        if inside in text:
            for found in pattern.finditer(text):
                yield found.span()
    yield from _labelled_spans(text)


_LABELLED = regex(
    r"(?<![\w.\-/])(?<!sha\d{3}[=:])[a-z]{2,16}\d?(?:_(?:[a-z]{1,12}|v\d)){0,3}_([A-Za-z0-9]{24,255})(?!\w)"
)
"""A label in small letters, and a long end: the form that most vendors have agreed on."""


def _labelled_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of tokens of vendors that are not listed, but have the common form."""
    if "_" in text:
        yield from (found.span() for found in _LABELLED.finditer(text) if _is_mixed(found[1]))


def _is_mixed(end: str) -> bool:
    """Return whether letters and digits alternate as in no name made of words."""
    kinds = (str.isupper, str.islower, str.isdigit)
    is_all = all(any(map(kind, end)) for kind in kinds)
    return is_all and alternates(end)


def _long_runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of uninterrupted token characters."""
    flat = text.encode("ascii", "replace").translate(_TOKEN_BYTES)
    first = flat.find(_LONG)
    while first >= 0:
        last = flat.find(b" ", first)
        last = last if last >= 0 else len(flat)
        yield first, last
        first = flat.find(_LONG, last)


@cache
def _compiled() -> tuple[re.Pattern[str], dict[str, list[tuple[int, re.Pattern[str]]]]]:
    """Return one pattern for all prefixes, and the continuations and their positions by prefix."""
    rows = [(start, regex(rest)) for _, starts, rest in VENDORS for start in starts.split()]
    # The longest prefix is matched first; the text is also tried with shorter ones.
    follow = {
        start: [(len(each), rest) for each, rest in rows if start.startswith(each)]
        for start, _ in rows
    }
    by_letter: dict[str, list[str]] = {}
    for start in sorted(follow, key=len, reverse=True):
        by_letter.setdefault(start[0], []).append(re.escape(start[1:]))
    # The lookbehind comes after the first letter, which matches at fewer positions.
    letters = (
        f"{re.escape(letter)}(?<![A-Za-z0-9].)(?:{'|'.join(tails)})"
        for letter, tails in by_letter.items()
    )
    return re.compile("|".join(letters)), follow


def _is_random(rest: str) -> bool:
    """Return whether the part after a prefix has letters and digits, or cases that alternate."""
    letters = any(map(str.isalpha, rest))
    return letters and (any(map(str.isdigit, rest)) or (len(rest) >= 16 and is_unspoken(rest)))
