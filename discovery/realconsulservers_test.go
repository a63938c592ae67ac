package discovery

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

// TestRealConsulServers: the list follows a service of a real Consul: checks that fail and pass, an
// instance that goes, a restart, tags, zones and tokens.
func TestRealConsulServers(t *testing.T) {
	a := realConsul(t)
	register := func(agent int, id, host, zone, tag string) {
		t.Helper()
		in := map[string]any{
			"ID": id, "Name": "nats", "Address": host, "Port": 4222, "Tags": []string{tag},
			"Check": map[string]string{"CheckID": "service:" + id, "TTL": "1h", "Status": "passing"},
		}
		if zone != "" {
			in["Meta"] = map[string]string{"zone": zone}
		}
		a.must(agent, http.MethodPut, "agent/service/register", in)
	}
	register(0, "a", "10.0.0.1", "west", "prod")
	register(1, "b", "", "", "prod") // at the address of its node
	register(1, "c", "10.0.0.3", "", "test")

	source, err := Parse("consul://" + a.http[1] + "/nats?tag=prod")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CONSUL_HTTP_TOKEN", a.token(`service "other" { policy = "read" }`))
	if _, err := source.Next(bound(t), nil); !errors.As(err, new(*LookupError)) {
		t.Errorf("without a right: %v", err)
	}
	t.Setenv("CONSUL_HTTP_TOKEN", "not-a-token")
	if _, err := source.Next(bound(t), nil); !errors.As(err, new(*ResponseError)) ||
		!strings.Contains(err.Error(), "give a token") {
		t.Errorf("with a wrong token: %v", err)
	}
	t.Setenv("CONSUL_HTTP_TOKEN", a.token(`service "nats" { policy = "read" } node_prefix "" { policy = "read" }`))

	first, second := Server{"nats://10.0.0.1:4222", "west"}, Server{"nats://127.0.0.1:4222", ""}
	list := look(t, source, nil)
	if Same(list, []Server{first}) || Same(list, []Server{second}) { // agents tell the server in a moment
		list = look(t, source, list)
	}
	expects(t, list, first, second)

	change := func(agent int, path string, want ...Server) {
		t.Helper()
		changed := waits(t, source, list)
		a.must(agent, http.MethodPut, path, nil)
		list = changed.result(t)
		expects(t, list, want...)
	}
	change(0, "agent/check/fail/service:a", second)
	change(0, "agent/check/pass/service:a", first, second)
	change(1, "agent/service/deregister/b", first)

	a.kill(0) // the server: the agent cannot answer
	if list, err := source.Next(bound(t), list); !errors.As(err, new(*LookupError)) {
		t.Errorf("without a server: %v, %v", list, err)
	}
	a.start(0)
	eventually(t, "it answers again", func() bool {
		_, _, err := a.instances(t.Context(), 0)
		return err == nil
	})
	register(0, "d", "10.0.0.4", "", "prod")
	expects(t, look(t, source, list), first, Server{"nats://10.0.0.4:4222", ""})
}
