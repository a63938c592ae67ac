package roles_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/roles"
)

func noWork(context.Context, *election.Term) error { return nil }

// A configuration with many faults is refused with all of them, each on a line that says how to fix
// it.
func TestBadConfigurationTellsAllFaults(t *testing.T) {
	cfg := roles.Config{
		Bucket: "a bucket", InstanceID: "not a name", Replicas: 2, TTL: 10 * time.Second, HeartbeatInterval: 5 * time.Second,
		OpTimeout: 6 * time.Second, SafetyMargin: 9 * time.Second, DisconnectGracePeriod: time.Second, IdleFactor: -1,
		DrainTimeout: -1, Sinks: []event.Sink{nil},
	}
	_, err := roles.New(cfg,
		roles.Role{Name: "x y", Lead: noWork},
		roles.Role{Name: "takeover", AllowPriorityTakeover: true, Lead: noWork},
		roles.Role{Name: "twice", Lead: noWork},
		roles.Role{Name: "twice", Lead: noWork},
		roles.Role{Name: "both", Lead: noWork, OnPromote: func(context.Context, fencing.Token) {}},
		roles.Role{Name: "neither"},
		roles.Role{Name: "demote", OnDemote: func() {}},
		roles.Role{Lead: noWork},
		roles.Role{Name: "valid", ValidationInterval: time.Second, Lead: noWork},
	)
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	for _, want := range []string{
		"roles: URL: no URL, no Servers and no Conn",
		`election: Bucket: "a bucket" is not a valid bucket name`,
		`election: InstanceID: "not a name"`,
		"election: Replicas: 2: use 1, 3 or 5",
		"election: HeartbeatInterval: TTL 10s < 3 × heartbeat 5s: use at most 3.333333333s",
		"election: OpTimeout: 6s is not within (0, heartbeat 5s): use 2.5s",
		"election: DisconnectGracePeriod: 1s < 2 × heartbeat 5s: use at least 10s",
		"election: IdleFactor: -1: use 1 or more",
		"election: DrainTimeout: -1ns",
		"election: Sinks: sink 0 is nil",
		`election: Role: "x y" cannot be part of a key`,
		`election: AllowPriorityTakeover: role "takeover" has priority 0: give it a Priority above 0`,
		`roles: Role: "twice" is there twice`,
		`roles: Lead: role "both" has Lead together with OnPromote or OnDemote`,
		`roles: Lead: role "neither" has nothing to do when it leads: set Lead, or OnPromote`,
		`roles: OnDemote: role "demote" has OnDemote alone`,
		"roles: Name: it is missing: give the role the same name in each process",
		"election: ValidationInterval: 1s < heartbeat 5s",
	} {
		found := false
		for _, line := range lines {
			found = found || strings.HasPrefix(line, want)
		}
		if !found {
			t.Errorf("missing: %s", want)
		}
	}
	if len(lines) != 18 {
		t.Errorf("%d faults:\n%v", len(lines), err)
	}
	if fault := (*roles.ConfigError)(nil); !errors.As(err, &fault) {
		t.Error("no *roles.ConfigError")
	}
	if fault := (*election.ConfigError)(nil); !errors.As(err, &fault) {
		t.Error("no *election.ConfigError")
	}
}

func TestConnectionConfiguration(t *testing.T) {
	for name, is := range map[string]struct {
		cfg  roles.Config
		want string // "" for none
	}{
		"url":     {roles.Config{URL: "nats://one:4222, tls://two ,three:4222"}, ""},
		"shared":  {roles.Config{Conn: new(nats.Conn)}, ""},
		"neither": {roles.Config{}, "no URL, no Servers and no Conn"},
		"both":    {roles.Config{URL: "nats://one", Conn: new(nats.Conn)}, "both URL and Conn"},
		"shared, options": {
			roles.Config{Conn: new(nats.Conn), NATSOptions: []nats.Option{nats.Name("x")}},
			"a shared Conn is not reconfigured",
		},
		"shared, deaf": {
			roles.Config{Conn: &nats.Conn{Opts: nats.Options{NoEcho: true}}},
			"roles: Conn: made with nats.NoEcho()",
		},
		"deaf": {
			roles.Config{URL: "nats://one", NATSOptions: []nats.Option{nil, nats.NoEcho()}},
			"roles: NATSOptions: nats.NoEcho()",
		},
		"no host":   {roles.Config{URL: "nats://one,,"}, "no readable address"},
		"not a URL": {roles.Config{URL: "nats://user:secret@host:port"}, "no readable address"},
	} {
		is.cfg.Bucket = "roles"
		switch err := is.cfg.Validate(); {
		case is.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case is.want != "" && (err == nil || !strings.Contains(err.Error(), is.want)):
			t.Errorf("%s: %v, want %q", name, err, is.want)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: the error shows the password: %v", name, err)
		}
	}
}

// A configuration that is valid for the session is valid with its defaults too.
func TestSmallConfiguration(t *testing.T) {
	for _, ttl := range []time.Duration{0, 300 * time.Millisecond, 30 * time.Second} {
		cfg := roles.Config{URL: "nats://localhost", Bucket: "roles", TTL: ttl}
		m, err := roles.New(cfg, roles.Role{Name: "r", Lead: noWork})
		if err != nil {
			t.Errorf("TTL %v: %v", ttl, err)
			continue
		}
		if m.Session().Instance() == "" {
			t.Error("no instance id was generated")
		}
	}
}

// TestShardsOfNonsense: the shards of a group tell their fault once, and none of it panics.
func TestShardsOfNonsense(t *testing.T) {
	config := roles.Config{URL: "nats://127.0.0.1:1", Bucket: "roles"}
	for name, c := range map[string]struct {
		roles []roles.Role
		want  string
	}{
		"none":      {roles.Shards("o", 0, leadShard), `group "o" has 0 shards: use 1 to 100000`},
		"negative":  {roles.Shards("o", math.MinInt, leadShard), "use 1 to 100000"},
		"huge":      {roles.Shards("o", math.MaxInt, leadShard), "use 1 to 100000"},
		"too many":  {roles.Shards("o", 100_001, leadShard), "use 1 to 100000"},
		"no name":   {roles.Shards("", 64, leadShard), "has no name"},
		"no work":   {roles.Shards("o", 64, nil), `role "o-00" has nothing to do`},
		"long name": {roles.Shards(strings.Repeat("o", 199), 64, leadShard), "at most 200 bytes"},
		"twice": {
			append(roles.Shards("o", 64, leadShard), roles.Shards("o", 64, leadShard)...), `"o-00" is there twice`,
		},
		"two numbers": {
			append(roles.Shards("o", 9, leadShard), roles.Shards("o", 64, leadShard)...), "is added with 9 and with 64",
		},
		"another role": {
			append(roles.Shards("o", 9, leadShard), roles.Role{Name: "o-3", OnPromote: func(context.Context, fencing.Token) {}}),
			`"o-3" is there twice`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := roles.New(config, c.roles...)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "\n") > 1 {
				t.Errorf("%v, want %s, once", err, c.want)
			}
			if errors.Is(err, roles.ErrShardCount) != (name == "two numbers") {
				t.Errorf("ErrShardCount of %v", err)
			}
		})
	}
	for _, n := range []int{math.MaxInt, 1 << 62, 1<<53 + 1} { // it ends
		for i := range 1000 {
			if shard := roles.ShardOf("o", n, strconv.Itoa(i)); shard < 0 || shard >= n {
				t.Fatalf("shard %d of %d", shard, n)
			}
		}
	}
}
