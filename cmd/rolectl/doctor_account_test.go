package main

import (
	"strings"
	"testing"
)

// TestDoctorURLCredentials: with credentials in the URL doctor looks at the servers that the first
// one announces, as it does with credentials in flags. It tells of a bound that the account asks
// for.
func TestDoctorURLCredentials(t *testing.T) {
	t.Parallel()
	p := configured(t, "accounts { APP { jetstream { max_file: 100000000, max_bytes_required: true }, "+
		"users: [ { user: joe, password: x } ] } }\n")
	inURL := strings.Replace(p.server.URL(), "://", "://joe:x@", 1)
	p.ok("-s", inURL, "bucket", "create", "roles", "--max-bytes", "64MiB")
	r := p.run("-s", inURL, "doctor", "--for", "100ms", "-o", "json")
	d := document[doctorDoc](t, r.out)
	if strings.Contains(r.out, "not reachable from here") || !d.has("server", "ok", "nats-server 2.") {
		t.Errorf("of servers: %s", r.out)
	}
	if !d.has("limits", "ok", "requires a bound for each stream") || strings.Contains(r.out, "joe:x") {
		t.Errorf("of limits: %s", r.out)
	}
}

// TestDoctorOfOneBucket: with -b it judges only what members of that bucket work on.
func TestDoctorOfOneBucket(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.pair("scheduler")
	p.ok("tasks", "create", "elsewhere")
	for args, want := range map[string]string{"doctor": "elsewhere: ", "doctor -b roles": "works there: elsewhere"} {
		d := document[doctorDoc](t, p.run(append(strings.Fields(args), "--for", "100ms", "-o", "json")...).out)
		if !d.has("tasks", "ok", want) {
			t.Errorf("%s: %v", args, d)
		}
	}
}
