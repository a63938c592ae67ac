package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// TestLogins: flags, environment and contexts lead to the server, in this order.
func TestLogins(t *testing.T) {
	t.Parallel()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, _ := key.PublicKey()
	seed, _ := key.Seed()
	p := at(t, func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) {
			so.Users = []*server.User{{Username: "joe", Password: "x y"}}
			so.Nkeys = []*server.NkeyUser{{Nkey: public}}
		}
	})
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	nkey := write("user.nk", string(seed))
	url := p.server.URL()
	write("nats/context/good.json", `{"url":"`+url+`","user":"joe","password":"x y"}`)
	write("nats/context/keyed.json", `{"description":"with a key","url":"`+url+`","nkey":"`+nkey+`"}`)
	write("nats/context/cluster.json", `{"url":"nats://127.0.0.1:1, `+url+`","user":"joe","password":"x y"}`)
	write("nats/context/wrong.json", `{"url":"`+url+`","user":"joe","password":"z"}`)
	write("nats/context/nsc.json", `{"url":"`+url+`","nsc":"nsc://o/a/u"}`)
	write("nats/context/domain.json", `{"url":"`+url+`","user":"joe","password":"x y","jetstream_domain":"a leaf"}`)
	write("nats/context/broken.json", `{"url":`)
	write("nats/context.txt", "good\n")
	for _, test := range []struct {
		env, args string
		code      int
		says      string
	}{
		{"", "", 0, ""}, // the selected context
		{"NATS_CONTEXT=keyed", "", 0, ""},
		{"NATS_CONTEXT=cluster", "", 0, ""}, // one of its servers is down
		{"NATS_CONTEXT=wrong", "--context good", 0, ""},
		{"NATS_CONTEXT=good", "--context wrong", cli.ExitConnection, "Authorization"},
		{"NATS_CONTEXT=wrong NATS_NKEY=" + nkey, "", 0, ""}, // one way to log in replaces another
		{"NATS_URL=" + url, "--no-context", cli.ExitConnection, "Authorization"},
		{"NATS_URL=nats://127.0.0.1:1", "", cli.ExitConnection, "connect to nats://127.0.0.1:1"},
		{"NATS_URL=nats://127.0.0.1:1", "--server " + url, 0, ""},
		{"NATS_URL=" + url + " NATS_NKEY=" + nkey, "--no-context", 0, ""},
		{"NATS_URL=" + url, "--no-context --nkey " + nkey, 0, ""},
		{"NATS_URL=" + url, "--no-context --nkey /missing", cli.ExitUsage, "--nkey"},
		{"NATS_URL=" + url + " NATS_CREDS=/missing", "--no-context", cli.ExitUsage, "--creds"},
		{"NATS_URL=" + url + " NATS_PASSWORD=x", "--no-context", cli.ExitUsage, "NATS_USER"},
		{"NATS_URL=" + url + " NATS_CERT=x", "--no-context", cli.ExitUsage, "NATS_KEY"},
		{"NATS_TIMEOUT=soon", "", cli.ExitUsage, "NATS_TIMEOUT"},
		{"NATS_TLS_FIRST=perhaps", "", cli.ExitUsage, `NATS_TLS_FIRST="perhaps" is not true or false`},
		{"", "--context missing", cli.ExitUsage, "there are broken, cluster, domain, good, keyed, nsc, wrong"},
		{"", "--context ../good", cli.ExitUsage, "cannot be a path"},
		{"", "--context nsc", cli.ExitUsage, "--creds"},
		{"", "--context domain", cli.ExitUsage, "not a valid JetStream domain"},
		{"NATS_JS_DOMAIN=a NATS_JS_API_PREFIX=b", "", cli.ExitUsage, "use one of them"},
		{"NATS_JS_DOMAIN=a NATS_URL=" + url + " NATS_NKEY=" + nkey, "--no-context --js-api-prefix $JS.API", 0, ""},
		{"NATS_JS_API_PREFIX=a NATS_URL=" + url + " NATS_NKEY=" + nkey, "--no-context --js-api-prefix $JS.API", 0, ""},
		{"", "--context broken", cli.ExitUsage, "nats context edit broken"},
	} {
		q := &place{t: t, env: append(append(clean(t), "XDG_CONFIG_HOME="+dir), strings.Fields(test.env)...)}
		r := q.run(append(strings.Fields(test.args), "bucket", "create", "roles")...)
		if r.code != test.code || !strings.Contains(r.errors, test.says) ||
			test.code != 0 && strings.Count(r.errors, "\n") != 1 {
			t.Errorf("%s %s: exit %d, want %d and %q in %q", test.env, test.args, r.code, test.code, test.says, r.errors)
		}
	}
	q := &place{t: t, env: append(clean(t), "NATS_URL="+url, "NATS_USER=joe", "NATS_PASSWORD=x y")}
	q.ok("bucket", "check", "roles")
	q.ok("--user", "joe", "--password", "x y", "bucket", "check", "roles")
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".config"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "nats"), filepath.Join(home, ".config", "nats")); err != nil {
		t.Fatal(err)
	}
	(&place{t: t, env: append(clean(t), "HOME="+home)}).ok("bucket", "check", "roles")
}

// contexts writes contexts of the nats tool, and is where they are looked for.
func contexts(t *testing.T, all map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "nats", "context"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, "nats", "context", name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestToken: a user without a password is a token.
func TestToken(t *testing.T) {
	t.Parallel()
	p := at(t, func(o *natsrun.Options) { o.Configure = func(so *server.Options) { so.Authorization = "s3cr3t" } })
	(&place{t: t, env: append(p.env, "NATS_USER=s3cr3t")}).ok("bucket", "create", "roles")
	dir := contexts(t, map[string]string{"token": `{"token":"s3cr3t"}`, "stale": `{"token":"other"}`})
	q := &place{t: t, env: append(p.env, "XDG_CONFIG_HOME="+dir)}
	q.ok("--context", "token", "bucket", "check", "roles")
	if r := q.run("--context", "stale", "roles"); r.code != cli.ExitConnection || strings.Contains(r.errors, "other") {
		t.Errorf("with another: exit %d, %s", r.code, r.errors)
	}
	if r := p.run("roles"); r.code != cli.ExitConnection {
		t.Errorf("without it: exit %d, %s", r.code, r.errors)
	}
}

// TestTLS: a server that wants certificates, after its greeting and before it.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca, pool := certificates(t, dir)
	for _, first := range []bool{false, true} {
		p := at(t, func(o *natsrun.Options) {
			o.Configure = func(so *server.Options) {
				so.TLSHandshakeFirst, so.TLSTimeout = first, 10
				so.TLSConfig = &tls.Config{
					Certificates: []tls.Certificate{ca}, ClientCAs: pool,
					ClientAuth: tls.RequireAndVerifyClientCert,
				}
			}
		})
		env := append(p.env, "NATS_CA="+dir+"/ca.pem", "NATS_CERT="+dir+"/cert.pem", "NATS_KEY="+dir+"/key.pem")
		if first {
			env = append(env, "NATS_TLS_FIRST=true")
		}
		q := &place{t: t, server: p.server, env: env}
		q.ok("bucket", "create", "roles")
		said := fmt.Sprintf(`{"ca":"%[1]s/ca.pem","cert":"%[1]s/cert.pem","key":"%[1]s/key.pem","tls_first":%[2]v}`, dir, first)
		home := contexts(t, map[string]string{"tls": said})
		(&place{t: t, env: append(p.env, "XDG_CONFIG_HOME="+home)}).ok("--context", "tls", "bucket", "check", "roles")
		refused := map[string]string{
			"roles": "--tlsca", "roles --tlsca " + dir + "/ca.pem": "--tlscert",
			"roles --tlsfirst": "--tlsfirst out",
		}
		if first {
			refused = map[string]string{
				"roles --timeout 2s": "--tlsfirst", "roles --tlsfirst": "--tlsca",
				"roles --tlsfirst --tlsca " + dir + "/ca.pem": "--tlscert",
			}
		}
		for args, says := range refused {
			if r := p.run(strings.Fields(args)...); r.code != cli.ExitConnection || !strings.Contains(r.errors, says) ||
				strings.Count(r.errors, "\n") != 1 {
				t.Errorf("TLS first %v, %s: exit %d, %s", first, args, r.code, r.errors)
			}
		}
		if r := p.run("--tlsca", dir+"/none.pem", "roles"); r.code != cli.ExitUsage ||
			!strings.Contains(r.errors, "--tlsca") {
			t.Errorf("without an authority: exit %d, %s", r.code, r.errors)
		}
	}
}

// certificates writes one that is its own authority, and serves both sides.
func certificates(t *testing.T, dir string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	for name, data := range map[string][]byte{"ca.pem": cert, "cert.pem": cert, "key.pem": private} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.X509KeyPair(cert, private)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pair, pool
}
