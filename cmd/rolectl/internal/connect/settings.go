package connect

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Settings are the values of the flags. Empty ones are taken from the environment or a context.
type Settings struct {
	Env         Environment
	Server      string
	Discover    string // a source of package discovery, in place of Server
	User        string // without a password it is a token, as in the nats tool
	Password    string
	Creds       string
	NKey        string
	Cert        string
	Key         string
	CA          string
	TLSFirst    bool
	InboxPrefix string
	Domain      string
	APIPrefix   string
	Context     string
	NoContext   bool          // use no context, not even the selected one
	Timeout     time.Duration // 0: from the environment, else DefaultTimeout
}

// DefaultTimeout is how long connecting may take, and how long one question to the server may take.
const DefaultTimeout = 5 * time.Second

// LongestWait is the maximum of all durations that a user gives: ten years. Sums of several fit a
// Duration.
const LongestWait = 10 * 365 * 24 * time.Hour

// login is an address and a user. Contexts are stored in this form.
type login struct {
	URL         string `json:"url"`
	Token       string `json:"token"`
	User        string `json:"user"`
	Password    string `json:"password"`
	Creds       string `json:"creds"`
	NKey        string `json:"nkey"`
	UserJWT     string `json:"user_jwt"`
	Cert        string `json:"cert"`
	Key         string `json:"key"`
	CA          string `json:"ca"`
	TLSFirst    bool   `json:"tls_first"`
	InboxPrefix string `json:"inbox_prefix"`
	Domain      string `json:"jetstream_domain"`
	APIPrefix   string `json:"jetstream_api_prefix"`

	// Settings of a context that this program does not support.
	NSC        string `json:"nsc"`
	SocksProxy string `json:"socks_proxy"`
}

// Target is a server and a user.
type Target struct {
	login
	env Environment
	// Timeout is how long connecting may take.
	Timeout time.Duration
	// Context is the name of the context that was used, "" for none.
	Context string
	// Reach leads to the JetStream of the domain or the API prefix.
	Reach natskv.Reach
}

// Resolve combines flags, environment and context. Errors name the flag, the variable or the file.
func (s Settings) Resolve() (Target, error) {
	t := Target{env: s.Env, Timeout: s.Timeout}
	if t.Timeout == 0 {
		t.Timeout = DefaultTimeout
		if text := s.Env("NATS_TIMEOUT"); text != "" {
			d, err := time.ParseDuration(text)
			if err != nil || d <= 0 || d > LongestWait {
				return Target{}, fmt.Errorf("NATS_TIMEOUT=%q is not a valid duration: use one such as 5s, or unset it", text)
			}
			t.Timeout = d
		}
	}
	if s.Discover != "" {
		found, err := s.discovered(t.Timeout)
		if err != nil {
			return Target{}, err
		}
		s.Server = found
	}
	if !s.NoContext {
		if err := t.load(cmp.Or(s.Context, s.Env("NATS_CONTEXT"))); err != nil {
			return Target{}, err
		}
	}
	said := login{
		URL:  cmp.Or(s.Server, s.Env("NATS_URL")),
		User: cmp.Or(s.User, s.Env("NATS_USER")), Password: cmp.Or(s.Password, s.Env("NATS_PASSWORD")),
		Creds: cmp.Or(s.Creds, s.Env("NATS_CREDS")), NKey: cmp.Or(s.NKey, s.Env("NATS_NKEY")),
		Cert: cmp.Or(s.Cert, s.Env("NATS_CERT")), Key: cmp.Or(s.Key, s.Env("NATS_KEY")),
		CA: cmp.Or(s.CA, s.Env("NATS_CA")), InboxPrefix: cmp.Or(s.InboxPrefix, s.Env("NATS_INBOX_PREFIX")),
		Domain: s.Domain, APIPrefix: s.APIPrefix,
	}
	if s.Domain+s.APIPrefix == "" { // a flag of either wins over the environment's of both
		said.Domain, said.APIPrefix = s.Env("NATS_JS_DOMAIN"), s.Env("NATS_JS_API_PREFIX")
	}
	if said.User != "" && said.Password == "" {
		said.User, said.Token = "", said.User
	}
	first := false
	if text := s.Env("NATS_TLS_FIRST"); text != "" {
		var err error
		if first, err = strconv.ParseBool(text); err != nil {
			return Target{}, fmt.Errorf("NATS_TLS_FIRST=%q is not true or false: use one of these, or unset it", text)
		}
	}
	said.TLSFirst = s.TLSFirst || first
	t.login = said.over(t.login)
	t.Reach, _ = natskv.NewReach(t.Domain, t.APIPrefix) // check reports the error
	return t, t.check()
}

// over returns l, with empty fields taken from below. If l has any way to log in, none is taken
// from below: two of them do not work on one connection.
func (l login) over(below login) login {
	if l.Token+l.User+l.Creds+l.NKey != "" {
		below.Token, below.User, below.Password, below.Creds, below.NKey, below.UserJWT, below.NSC = "", "", "", "",
			"", "", ""
	}
	if l.Domain+l.APIPrefix != "" {
		below.Domain, below.APIPrefix = "", ""
	}
	return login{
		URL:   cmp.Or(l.URL, below.URL, nats.DefaultURL),
		Token: cmp.Or(l.Token, below.Token), User: cmp.Or(l.User, below.User), Password: cmp.Or(l.Password, below.Password),
		Creds: cmp.Or(l.Creds, below.Creds), NKey: cmp.Or(l.NKey, below.NKey), UserJWT: cmp.Or(l.UserJWT, below.UserJWT),
		Cert: cmp.Or(l.Cert, below.Cert), Key: cmp.Or(l.Key, below.Key), CA: cmp.Or(l.CA, below.CA),
		TLSFirst: l.TLSFirst || below.TLSFirst, InboxPrefix: cmp.Or(l.InboxPrefix, below.InboxPrefix),
		NSC: below.NSC, SocksProxy: below.SocksProxy,
		Domain: cmp.Or(l.Domain, below.Domain), APIPrefix: cmp.Or(l.APIPrefix, below.APIPrefix),
	}
}

// check refuses settings that would silently lead to another place.
func (t Target) check() error {
	refuse := func(what, instead string) error {
		return fmt.Errorf("context %s uses %s, which rolectl does not support: %s", t.Context, what, instead)
	}
	_, err := natskv.NewReach(t.Domain, t.APIPrefix)
	switch {
	case err != nil:
		return fmt.Errorf("--js-domain (NATS_JS_DOMAIN) or --js-api-prefix (NATS_JS_API_PREFIX): %w", err)
	case t.NSC != "":
		return refuse("nsc", "give --creds with the file that nsc has made")
	case t.SocksProxy != "":
		return refuse("a SOCKS proxy", "give --no-context and --server with an address that can be reached")
	case (t.Cert == "") != (t.Key == ""):
		return fmt.Errorf("a client certificate needs its key: give both --tlscert and --tlskey (NATS_CERT, NATS_KEY)")
	case !t.hasAddresses():
		return fmt.Errorf("%q is not a valid server address: give --server (NATS_URL) as nats://host:port", t.Address())
	case t.Password != "" && t.User == "":
		return fmt.Errorf("the password has no user: give --user (NATS_USER) too")
	}
	return nil
}
