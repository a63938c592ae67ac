package connect

import (
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// variables are all variables that Resolve reads.
var variables = []string{
	"NATS_URL", "NATS_USER", "NATS_PASSWORD", "NATS_CREDS", "NATS_NKEY", "NATS_CERT", "NATS_KEY", "NATS_CA",
	"NATS_INBOX_PREFIX", "NATS_TIMEOUT",
	"NATS_TLS_FIRST", "NATS_CONTEXT",
}

// FuzzSettings: any flags, environment and context name lead to a server that can be dialled,
// within some time and as the given user, or are refused with a fix. A context name leads to no
// other file than the one of that name. No error repeats the password.
func FuzzSettings(f *testing.F) {
	home := f.TempDir()
	contexts := filepath.Join(home, "nats", "context")
	if err := os.MkdirAll(contexts, 0o700); err != nil {
		f.Fatal(err)
	}
	for file, text := range map[string]string{
		filepath.Join(contexts, "there.json"):      `{"url":"nats://there:4222"}`,
		filepath.Join(home, "nats", "secret.json"): `{"url":"nats://secret"}`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	for _, v := range variables {
		f.Setenv(v, "")
	}
	f.Setenv("XDG_CONFIG_HOME", home)
	for _, c := range [][6]string{
		{"nats://a:4222", "u", "p", "5s", "true", ""},
		{"", "token", "", "", "", "there"},
		{"a,b:1,tls://c", "", "pass word", "-1s", "no", "../secret"},
		{"", "", "", "1e9h", "0", "none"},
		{"nats://u:p@a", "u", "", "0", "T", `..\secret`},
		{"ws://a:0", "u", "p", "x", "", ".."},
		{"::", "", "", "9223372036854775807ns", "", ""},
		{"nats://[::1]:65536", "", "", "", "", "there\x00"},
	} {
		f.Add(c[0], c[1], c[2], c[3], c[4], c[5], true)
		f.Add(c[0], c[1], c[2], c[3], c[4], c[5], false)
	}
	f.Fuzz(func(t *testing.T, server, user, password, timeout, first, context string, flags bool) {
		said := map[string]string{
			"NATS_URL": server, "NATS_USER": user, "NATS_PASSWORD": password, "NATS_CONTEXT": context,
			"NATS_TIMEOUT": timeout, "NATS_TLS_FIRST": first,
		}
		s := Settings{Env: os.Getenv}
		if flags {
			s = Settings{Env: os.Getenv, Server: server, User: user, Password: password, Context: context}
			said = map[string]string{
				"NATS_TIMEOUT": timeout, "NATS_TLS_FIRST": first, "NATS_URL": "nats://below",
				"NATS_USER": "", "NATS_PASSWORD": "", "NATS_CONTEXT": "",
			}
		}
		for name, value := range said {
			if os.Setenv(name, value) != nil {
				return // no program is started with that
			}
		}
		var to Target
		var err error
		heap.Bounded(t, len(server)+len(user)+len(password)+len(timeout)+len(first)+len(context),
			func() { to, err = s.Resolve() })
		if err != nil {
			if !strings.ContainsAny(err.Error(), ":,") {
				t.Fatalf("%v says not what to do", err)
			}
			if others := server + timeout + first + context + "below"; len(password) > 8 &&
				strings.Contains(err.Error(), password) && !strings.Contains(others, password) {
				t.Fatalf("%v repeats %q", err, password)
			}
			return
		}
		if to.Timeout <= 0 || !to.hasAddresses() || to.Context != context || context != "" && context != "there" {
			t.Fatalf("%q leads to %+v", said, to)
		}
		if password == "" && (to.User != "" || to.Token != user) ||
			password != "" && (to.User != user || to.Password != password) {
			t.Fatalf("%q, %q are taken as %+v", user, password, to.login)
		}
		if d, err := time.ParseDuration(timeout); timeout != "" && (err != nil || to.Timeout != d) {
			t.Fatalf("%q is %v", timeout, to.Timeout)
		}
		if server != "" && to.URL != server {
			t.Fatalf("%q is %q", server, to.URL)
		}
	})
}

// FuzzAddress: an address is shown without its password. The client dials every address that can be
// dialled, each server at a valid port, unless it refuses the combination.
func FuzzAddress(f *testing.F) {
	for _, text := range []string{
		"nats://a:4222", "a", "a,b:1, tls://c ", "ws://a,wss://b", "ws://a,nats://b", "wS://a,nats://b", "nats://u:p@a",
		"u:p@a", "nats://u:se,cret@a,b", "nats://[::1]:4222", "[::1]", "::1", "nats://a:0", "nats://a:65536",
		"http://a", "nats://", "", ",", "nats://a/b?c#d", "nats://%zz", "nats://a b", "a:port", "]", "a]:1", "NATS://a",
		"nats://a:04222", "nats:///a",
	} {
		f.Add(text, "a:secret@word")
		f.Add(text, "")
	}
	f.Fuzz(func(t *testing.T, text, secret string) {
		var target Target
		var shown string
		var dialable bool
		heap.Bounded(t, len(text), func() {
			target = Target{login: login{URL: text}}
			shown, dialable = target.Address(), target.hasAddresses()
		})
		hidden := Target{login: login{URL: "nats://" + url.UserPassword("user", secret).String() + "@host:4222"}}
		want := "nats://host:4222"
		if n := strings.Count(hidden.URL, ","); n > 0 { // there may be as many servers
			want = strings.Repeat("…, ", n) + "host:4222"
		}
		if got := hidden.Address(); got != want {
			t.Fatalf("%s is shown as %s, want %s", hidden.URL, got, want)
		}
		if strings.Count(shown, ",") != strings.Count(text, ",") && !strings.Contains(text, "@") {
			t.Fatalf("%q is shown as %q", text, shown)
		}
		if !dialable || len(text) > 1000 {
			return
		}
		var dialled dials
		_, err := nats.Connect(text, nats.SetCustomDialer(&dialled), nats.SkipHostLookup(), nats.DontRandomize())
		together := !strings.Contains(err.Error(), "mixing of websocket and non websocket URLs")
		if together && len(dialled) == 0 ||
			slices.ContainsFunc(dialled, func(address string) bool { return !isAddress(address) }) {
			t.Fatalf("%q: the client dials %q: %v", text, dialled, err)
		}
	})
}

// dials are the addresses that a client has asked for. None answers.
type dials []string

func (d *dials) Dial(_, address string) (net.Conn, error) {
	*d = append(*d, address)
	return nil, errors.New("nowhere")
}

func isAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	n, wrong := strconv.Atoi(port)
	return err == nil && host != "" && wrong == nil && 1 <= n && n <= 65535
}

// FuzzFiles: any file of credentials or authorities is read without harm, and an error repeats
// nothing of the file.
func FuzzFiles(f *testing.F) {
	key, err := nkeys.FromRawSeed(nkeys.PrefixByteUser, make([]byte, 32))
	if err != nil {
		f.Fatal(err)
	}
	secret, err := key.Seed()
	if err != nil {
		f.Fatal(err)
	}
	seed := string(secret)
	for _, text := range []string{
		"-----BEGIN USER NKEY SEED-----\n" + seed + "\n------END USER NKEY SEED------\n", seed,
		"-----BEGIN NATS USER JWT-----\neyJ\n------END NATS USER JWT------\n",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", "SUA", "", "\n",
	} {
		f.Add([]byte(text))
	}
	file := filepath.Join(f.TempDir(), "file")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var errs []error
		heap.Bounded(t, len(data), func() { errs = []error{credentials(file), authority(file)} })
		for _, err := range errs {
			if err != nil && (len(err.Error()) > 300+len(file) || !strings.Contains(err.Error(), file)) {
				t.Fatalf("%q: %v", data, err)
			}
		}
	})
}
