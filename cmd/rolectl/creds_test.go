package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
)

// TestCreds: a server that trusts an operator accepts users with a JWT and a proof of their key:
// from a file of credentials, named by flag, environment or context, or from a context with only a
// bearer JWT.
func TestCreds(t *testing.T) {
	t.Parallel()
	operator, account, system := key(t, nkeys.CreateOperator), key(t, nkeys.CreateAccount), key(t, nkeys.CreateAccount)
	unlimited := claims{
		"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1,
		"leaf": -1,
	}
	storing := claims{"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}
	for k, v := range unlimited {
		storing[k] = v
	}
	p := configured(t,
		fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: { %s: %s, %[2]s: %[5]s }\n",
			signed(t, operator, operator, claims{"type": "operator", "version": 2}, 0), public(t, system),
			public(t, account), signed(t, operator, account, claims{"type": "account", "version": 2, "limits": storing}, 0),
			signed(t, operator, system, claims{"type": "account", "version": 2, "limits": unlimited}, 0),
		))
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	user := func(edit claims, expires time.Duration) (nkeys.KeyPair, string) {
		k := key(t, nkeys.CreateUser)
		c := claims{"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1, "pub": claims{}, "sub": claims{}}
		for name, v := range edit {
			c[name] = v
		}
		return k, signed(t, account, k, c, expires)
	}
	creds := func(name string, k nkeys.KeyPair, jwt string) string {
		seed, err := k.Seed()
		if err != nil {
			t.Fatal(err)
		}
		return write(name, "-----BEGIN NATS USER JWT-----\n"+jwt+"\n------END NATS USER JWT------\n\n"+
			"-----BEGIN USER NKEY SEED-----\n"+string(seed)+"\n------END USER NKEY SEED------\n")
	}
	joe, jwt := user(nil, 0)
	good := creds("joe.creds", joe, jwt)
	late, expired := user(nil, -time.Hour)
	old := creds("late.creds", late, expired)
	forged := creds("forged.creds", key(t, nkeys.CreateUser), jwt)
	_, bearer := user(claims{"bearer_token": true}, 0)
	home := contexts(t, map[string]string{"creds": `{"creds":"` + good + `"}`, "jwt": `{"user_jwt":"` + bearer + `"}`, "old": `{"creds":"` + old + `"}`})

	for _, test := range []struct {
		env, args string
		code      int
		says      string
	}{
		{"", "--creds " + good, 0, ""},
		{"NATS_CREDS=" + good, "", 0, ""},
		{"", "--context creds", 0, ""},
		{"", "--context jwt", 0, ""},
		{"", "--context old --creds " + good, 0, ""},
		{"", "", cli.ExitConnection, "Authorization"},
		{"", "--creds " + old, cli.ExitConnection, "Authorization"},
		{"", "--context old", cli.ExitConnection, "Authorization"},
		{"", "--creds " + forged, cli.ExitConnection, "Authorization"},
		{"", "--creds " + write("empty.creds", ""), cli.ExitUsage, "empty.creds (--creds"},
	} {
		q := &place{t: t, env: append(append(p.env, "XDG_CONFIG_HOME="+home), strings.Fields(test.env)...)}
		r := q.run(append(strings.Fields(test.args), "bucket", "create", "roles")...)
		if r.code != test.code || !strings.Contains(r.errors, test.says) ||
			test.code != 0 && strings.Count(r.errors, "\n") != 1 {
			t.Errorf("%s %s: exit %d, want %d and %q in %q", test.env, test.args, r.code, test.code, test.says, r.errors)
		}
	}
}

type claims map[string]any

// key makes a key of one of the kinds.
func key(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	k, err := create()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func public(t *testing.T, k nkeys.KeyPair) string {
	t.Helper()
	p, err := k.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// signed is a JWT in the form of NATS: of subject, by issuer. expires is from now, 0 for never.
func signed(t *testing.T, issuer, subject nkeys.KeyPair, nats claims, expires time.Duration) string {
	t.Helper()
	body := claims{
		"jti": "test", "iat": time.Now().Add(-24 * time.Hour).Unix(), "iss": public(t, issuer),
		"sub": public(t, subject), "name": "test", "nats": nats,
	}
	if expires != 0 {
		body["exp"] = time.Now().Add(expires).Unix()
	}
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	encoded := base64.RawURLEncoding
	text := encoded.EncodeToString([]byte(`{"typ":"JWT","alg":"ed25519-nkey"}`)) + "." + encoded.EncodeToString(data)
	signature, err := issuer.Sign([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + encoded.EncodeToString(signature)
}
