package connect

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzContext: a context that is read and written again means the same. An error names a field or a
// byte, and repeats nothing of the file. One source alone decides how to log in. A context that
// would lead to another place than the file says is refused.
func FuzzContext(f *testing.F) {
	for _, text := range []string{
		`{}`, `null`, `[]`, ``, `{"url":"nats://a:4222,nats://b:4222","user":"u","password":"p"}`, `{"url":"tls://a","token":"t","tls_first":true,"inbox_prefix":"_IN"}`,
		`{"creds":"/x.creds","nsc":"nsc://o/a/u"}`, `{"nkey":"/n","user_jwt":"/j","cert":"/c","key":"/k","ca":"/ca"}`, `{"socks_proxy":"127.0.0.1:1080"}`, `{"jetstream_domain":"d"}`,
		`{"jetstream_api_prefix":"$JS.API"}`, `{"jetstream_api_prefix":"$JS.x.API"}`, `{"user":"u","password":12345}`, `{"password":["secret"]}`, `{"url":"::"}`, `{"URL":"nats://a","url":"nats://b"}`,
		`{"jetstream_domain":"a b"}`, `{"jetstream_domain":"a","jetstream_api_prefix":"b"}`, `{"jetstream_api_prefix":"a.*"}`,
		`{"url":"nats://a"`, "{\"url\":\"\xff\"}", `"a secret"`, `{"description":"d","color_scheme":"","windows_ca_certs_match":[""]}`,
	} {
		f.Add([]byte(text), "")
		f.Add([]byte(text), "/given.creds")
	}
	f.Fuzz(func(t *testing.T, data []byte, creds string) {
		var l login
		var err error
		heap.Bounded(t, len(data), func() { l, err = readContext(data) })
		if err != nil {
			if l != (login{}) || len(err.Error()) > 100 ||
				!strings.HasPrefix(err.Error(), "byte ") && err.Error() != "it is not a JSON object" && !named(err.Error()) {
				t.Fatalf("%q: %+v, %v", data, l, err)
			}
			return
		}
		written, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := readContext(written); err != nil || again != l {
			t.Fatalf("%q is read as %+v, and that as %+v, %v", data, l, again, err)
		}
		there := Target{login: login{Creds: creds}.over(l), Context: "there"}
		if creds != "" && there.Token+there.User+there.Password+there.NKey+there.UserJWT+there.NSC != "" ||
			creds != "" && there.Creds != creds {
			t.Fatalf("%q and credentials in %q: %+v", data, creds, there.login)
		}
		if creds == "" &&
			(there.Token != l.Token || there.User != l.User || there.Password != l.Password || there.Creds != l.Creds ||
				there.NKey != l.NKey) {
			t.Fatalf("%q leads to %+v", data, there.login)
		}
		_, astray := natskv.NewReach(l.Domain, l.APIPrefix)
		elsewhere := there.NSC+l.SocksProxy != "" || astray != nil
		if err := there.check(); err == nil && (elsewhere || (l.Cert == "") != (l.Key == "") || there.URL == "") {
			t.Fatalf("%q is taken as %+v", data, there.login)
		} else if err != nil && !strings.Contains(err.Error(), ": ") {
			t.Fatalf("%q: %v says not what to do", data, err)
		}
	})
}

// named reports whether an error names a field of a context that has the wrong type.
func named(text string) bool {
	field, _, is := strings.Cut(text, " is not a valid ")
	for i := range reflect.TypeFor[login]().NumField() {
		if is && field == reflect.TypeFor[login]().Field(i).Tag.Get("json") {
			return true
		}
	}
	return false
}
