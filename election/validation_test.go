package election_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func sprint(v any) string { return fmt.Sprintf("%+v", v) }

// TestEveryFaultNamesItsFix: each rule by itself, with the text that a user reads.
func TestEveryFaultNamesItsFix(t *testing.T) {
	type edit = func(*election.SessionConfig, *election.RoleConfig)
	session := func(f func(c *election.SessionConfig)) edit {
		return func(c *election.SessionConfig, _ *election.RoleConfig) { f(c) }
	}
	role := func(f func(c *election.RoleConfig)) edit {
		return func(_ *election.SessionConfig, c *election.RoleConfig) { f(c) }
	}
	const name = "cannot be part of a key: use letters, digits, - _ = / and dots, at most 200 bytes, no dot at the ends"
	tests := map[string]struct {
		edit edit
		want string
	}{
		"a long bucket": {
			session(func(c *election.SessionConfig) { c.Bucket = strings.Repeat("b", 101) }),
			`election: Bucket: "` + strings.Repeat("b", 101) + `" is not a valid bucket name: use letters, digits, - and _`,
		},
		"no bucket": {
			session(func(c *election.SessionConfig) { c.Bucket = "" }),
			`election: Bucket: it is missing: set it`,
		},
		"bucket with a dot": {
			session(func(c *election.SessionConfig) { c.Bucket = "a.b" }),
			`election: Bucket: "a.b" is not a valid bucket name: use letters, digits, - and _`,
		},
		"instance with a space": {
			session(func(c *election.SessionConfig) { c.InstanceID = "a b" }), `election: InstanceID: "a b" ` + name,
		},
		"instance with a wildcard": {
			session(func(c *election.SessionConfig) { c.InstanceID = "a.*" }), `election: InstanceID: "a.*" ` + name,
		},
		"instance with a leading dot": {
			session(func(c *election.SessionConfig) { c.InstanceID = ".a" }), `election: InstanceID: ".a" ` + name,
		},
		"zone with a space": {
			session(func(c *election.SessionConfig) { c.Zone = "d c" }),
			`election: Zone: "d c" is not a valid name of a zone: use letters, digits, - _ = / and dots, at most 200 bytes, ` +
				`no dot at the ends`,
		},
		"a priority that outweighs a zone": {
			role(func(c *election.RoleConfig) { c.Zones, c.Priority = []string{"dc1"}, 1<<19 }),
			`election: Priority: 524288: a role with Zones has one of -524287 to 524287`,
		},
		"a zone with a space": {
			role(func(c *election.RoleConfig) { c.Zones = []string{"d c"} }),
			`election: Zones: "d c" is not a valid name of a zone: use letters, digits, - _ = / and dots, at most 200 bytes, ` +
				`no dot at the ends`,
		},
		"a zone twice": {
			role(func(c *election.RoleConfig) { c.Zones = []string{"dc1", "dc2", "dc1"} }),
			`election: Zones: zone "dc1" is there twice: name it once`,
		},
		"too many zones": {
			role(func(c *election.RoleConfig) {
				for i := range 101 {
					c.Zones = append(c.Zones, fmt.Sprint(i))
				}
			}),
			`election: Zones: 101 zones: name 100 at most`,
		},
		"only in no zone": {
			role(func(c *election.RoleConfig) { c.ZonesOnly = true }),
			`election: ZonesOnly: role "scheduler" names no Zones, so nobody could lead it: name some`,
		},
		"back to no zone": {
			role(func(c *election.RoleConfig) { c.FailBackAfter = time.Minute }),
			`election: FailBackAfter: role "scheduler" names no Zones, so none is better: name some, or leave it out`,
		},
		"back before it began": {
			role(func(c *election.RoleConfig) { c.Zones, c.FailBackAfter = []string{"dc1"}, -time.Second }),
			`election: FailBackAfter: -1s: use a positive duration, or 0 for never`,
		},
		"no role": {
			role(func(c *election.RoleConfig) { c.Role = "" }), `election: Role: it is missing: set it`,
		},
		"role with a wildcard": {
			role(func(c *election.RoleConfig) { c.Role = "a.>" }), `election: Role: "a.>" ` + name,
		},
		"role with a trailing dot": {
			role(func(c *election.RoleConfig) { c.Role = "a." }), `election: Role: "a." ` + name,
		},
		"replicas": {
			session(func(c *election.SessionConfig) { c.Replicas = 2 }), `election: Replicas: 2: use 1, 3 or 5`,
		},
		"short TTL": {
			session(func(c *election.SessionConfig) { c.TTL = 299 * time.Millisecond }),
			`election: TTL: 299ms < 300ms: use at least 300ms`,
		},
		"long TTL": {
			session(func(c *election.SessionConfig) { c.TTL = 2 * time.Hour }), `election: TTL: 2h0m0s > 1h0m0s: use less`,
		},
		"slow heartbeat": {
			session(func(c *election.SessionConfig) { c.HeartbeatInterval, c.SafetyMargin = 4*time.Second, time.Second }),
			`election: HeartbeatInterval: TTL 10s < 3 × heartbeat 4s: use at most 3.333333333s`,
		},
		"slow operations": {
			session(func(c *election.SessionConfig) { c.OpTimeout = 2 * time.Second }),
			`election: OpTimeout: 2s is not within (0, heartbeat 2s): use 1s`,
		},
		"no margin": {
			session(func(c *election.SessionConfig) { c.SafetyMargin = -time.Second }),
			`election: SafetyMargin: -1s: without a margin two leaders can overlap; use TTL/5 = 2s`,
		},
		"wide margin": {
			session(func(c *election.SessionConfig) { c.SafetyMargin = 7 * time.Second }),
			`election: SafetyMargin: TTL 10s − margin 7s leaves fewer than two heartbeats of 2s before the deadline: use at most 6s`,
		},
		"short grace": {
			session(func(c *election.SessionConfig) { c.DisconnectGracePeriod = 3 * time.Second }),
			`election: DisconnectGracePeriod: 3s < 2 × heartbeat 2s: use at least 4s`,
		},
		"idle factor": {
			session(func(c *election.SessionConfig) { c.IdleFactor = -1 }), `election: IdleFactor: -1: use 1 or more`,
		},
		"succession delay": {
			session(func(c *election.SessionConfig) { c.SuccessionDelay = -1 }),
			`election: SuccessionDelay: -1ns: use a positive duration, or 0 for the default`,
		},
		"drain timeout": {
			session(func(c *election.SessionConfig) { c.DrainTimeout = -1 }),
			`election: DrainTimeout: -1ns: use a positive duration, or 0 for the default`,
		},
		"cool-down": {
			session(func(c *election.SessionConfig) { c.CoolDown = -1 }),
			`election: CoolDown: -1ns: use a positive duration, or 0 for the default`,
		},
		"fast rotation": {
			session(func(c *election.SessionConfig) { c.RotationInterval = time.Second }),
			`election: RotationInterval: 1s < heartbeat 2s: use at least one heartbeat, or 0 for never`,
		},
		"long grace": {
			session(func(c *election.SessionConfig) { c.DisconnectGracePeriod = math.MaxInt64 }),
			`election: DisconnectGracePeriod: 2562047h47m16.854775807s > 8760h0m0s: use at most 8760h0m0s`,
		},
		"long heartbeat": { // three of it are a small number again
			session(func(c *election.SessionConfig) {
				c.HeartbeatInterval, c.OpTimeout, c.SafetyMargin, c.DisconnectGracePeriod = math.MaxInt64/3+1, 1, 1, 8760*time.Hour
			}),
			`election: HeartbeatInterval: TTL 10s < 3 × heartbeat 854015h55m45.618258603s: use at most 3.333333333s
election: DisconnectGracePeriod: 8760h0m0s < 2 × heartbeat 854015h55m45.618258603s: use at least 1708031h51m31.236517206s`,
		},
		"many idle beats": {
			session(func(c *election.SessionConfig) { c.IdleFactor = math.MaxInt }),
			`election: IdleFactor: 9223372036854775807: use at most 100000`,
		},
		"long succession delay": {
			session(func(c *election.SessionConfig) { c.SuccessionDelay = time.Hour + 1 }),
			`election: SuccessionDelay: 1h0m0.000000001s > 1h0m0s: use at most 1h0m0s`,
		},
		"long drain": {
			session(func(c *election.SessionConfig) { c.DrainTimeout = math.MaxInt64 }),
			`election: DrainTimeout: 2562047h47m16.854775807s > 8760h0m0s: use at most 8760h0m0s`,
		},
		"long cool-down": {
			session(func(c *election.SessionConfig) { c.CoolDown = math.MaxInt64 }),
			`election: CoolDown: 2562047h47m16.854775807s > 8760h0m0s: use at most 8760h0m0s`,
		},
		"long rotation": {
			session(func(c *election.SessionConfig) { c.RotationInterval = math.MaxInt64 }),
			`election: RotationInterval: 2562047h47m16.854775807s > 8760h0m0s: use at most 8760h0m0s`,
		},
		"long validation": {
			role(func(c *election.RoleConfig) { c.ValidationInterval = math.MaxInt64 }),
			`election: ValidationInterval: 2562047h47m16.854775807s > 8760h0m0s: use at most 8760h0m0s`,
		},
		"meta that is not UTF-8": {
			session(func(c *election.SessionConfig) { c.Meta = map[string]string{"k": "caf\xe9"} }),
			`election: Meta: "k": "caf\xe9" is not UTF-8: use an encoding such as base64`,
		},
		"nil sink": {
			session(func(c *election.SessionConfig) { c.Sinks = []event.Sink{nil} }), `election: Sinks: sink 0 is nil: leave it out`,
		},
		"high priority": {
			role(func(c *election.RoleConfig) { c.Priority = math.MaxInt32 + 1 }),
			`election: Priority: 2147483648: use one of 32 bits, -2147483648 to 2147483647`,
		},
		"low priority": {
			role(func(c *election.RoleConfig) { c.Priority = math.MinInt32 - 1 }),
			`election: Priority: -2147483649: use one of 32 bits, -2147483648 to 2147483647`,
		},
		"takeover without priority": {
			role(func(c *election.RoleConfig) { c.AllowPriorityTakeover = true }),
			`election: AllowPriorityTakeover: role "scheduler" has priority 0: give it a Priority above 0, or leave takeover off`,
		},
		"failures": {
			role(func(c *election.RoleConfig) { c.MaxConsecutiveFailures = -1 }), `election: MaxConsecutiveFailures: -1: use 1 or more`,
		},
		"fast validation": {
			role(func(c *election.RoleConfig) { c.ValidationInterval = time.Second }),
			`election: ValidationInterval: 1s < heartbeat 2s: use at least one heartbeat, or 0 for never`,
		},
	}
	for what, test := range tests {
		t.Run(what, func(t *testing.T) {
			cfg := election.Config{
				SessionConfig: election.SessionConfig{Bucket: bucket}, RoleConfig: election.RoleConfig{Role: "scheduler"},
			}
			test.edit(&cfg.SessionConfig, &cfg.RoleConfig)
			err := cfg.Validate()
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			var fault *election.ConfigError
			if !errors.As(err, &fault) || fault.Field == "" || fault.Fix == "" {
				t.Errorf("%v is not a *ConfigError with field and fix", err)
			}
		})
	}
}

// TestAllFaultsAtOnce: one error has a line for every fault of both parts.
func TestAllFaultsAtOnce(t *testing.T) {
	_, err := election.New(nil, election.Config{
		SessionConfig: election.SessionConfig{
			Bucket: "*", InstanceID: "x y", Replicas: 4, HeartbeatInterval: 5 * time.Second, OpTimeout: 6 * time.Second,
			SafetyMargin: 9 * time.Second, DisconnectGracePeriod: time.Second, IdleFactor: -3, DrainTimeout: -time.Second,
		},
		RoleConfig: election.RoleConfig{Role: ">", AllowPriorityTakeover: true, ValidationInterval: time.Second},
	})
	want := strings.TrimPrefix(`
election: Bucket: "*" is not a valid bucket name: use letters, digits, - and _
election: InstanceID: "x y" cannot be part of a key: use letters, digits, - _ = / and dots, at most 200 bytes, no dot at the ends
election: Replicas: 4: use 1, 3 or 5
election: HeartbeatInterval: TTL 10s < 3 × heartbeat 5s: use at most 3.333333333s
election: OpTimeout: 6s is not within (0, heartbeat 5s): use 2.5s
election: DisconnectGracePeriod: 1s < 2 × heartbeat 5s: use at least 10s
election: IdleFactor: -3: use 1 or more
election: DrainTimeout: -1s: use a positive duration, or 0 for the default
election: Role: ">" cannot be part of a key: use letters, digits, - _ = / and dots, at most 200 bytes, no dot at the ends
election: AllowPriorityTakeover: role ">" has priority 0: give it a Priority above 0, or leave takeover off
election: ValidationInterval: 1s < heartbeat 5s: use at least one heartbeat, or 0 for never
election: nc: nil: connect to NATS first`, "\n")
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// TestShortTTLHidesNothing: what does not follow from the TTL is told beside it.
func TestShortTTLHidesNothing(t *testing.T) {
	err := election.SessionConfig{
		Bucket: bucket, TTL: time.Millisecond, HeartbeatInterval: time.Second, Capacity: -1, IdleFactor: -1,
	}.Validate()
	want := strings.TrimPrefix(`
election: TTL: 1ms < 300ms: use at least 300ms
election: IdleFactor: -1: use 1 or more
election: Capacity: -1: use 1 to 1000`, "\n")
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestDefaults(t *testing.T) {
	s := unopened(t, election.SessionConfig{Bucket: bucket})
	c := s.Config()
	got := sprint([]any{
		c.TTL, c.HeartbeatInterval, c.OpTimeout, c.SafetyMargin, c.DisconnectGracePeriod, c.SuccessionDelay, c.DrainTimeout,
		c.CoolDown, c.IdleFactor, c.RotationInterval, c.Replicas, c.Storage == jetstream.FileStorage,
	})
	if want := "[10s 2s 1s 2s 6s 20ms 10s 10s 5 0s 1 true]"; got != want {
		t.Errorf("defaults %s, want %s", got, want)
	}
	if !regexp.MustCompile(`^[A-Za-z0-9_=./-]+-[0-9a-f]{8}$`).MatchString(c.InstanceID) || c.InstanceID != s.Instance() {
		t.Errorf("instance id %q, want the host name and eight hex digits", c.InstanceID)
	}
	if other := unopened(t, election.SessionConfig{Bucket: bucket}); other.Instance() == s.Instance() {
		t.Errorf("two sessions are called %s", s.Instance())
	}
}

// TestDefaultsFollowTTL: for every legal TTL, the values derived from it are legal too.
func TestDefaultsFollowTTL(t *testing.T) {
	for _, ttl := range []time.Duration{
		300 * time.Millisecond, time.Second, 15 * time.Second, 2 * time.Minute,
		time.Hour,
	} {
		s := unopened(t, election.SessionConfig{Bucket: bucket, TTL: ttl})
		if c := s.Config(); c.HeartbeatInterval != ttl/5 || c.SafetyMargin != ttl/5 || c.OpTimeout != ttl/10 ||
			c.DisconnectGracePeriod != max(3*ttl/5, 5*time.Second) {
			t.Errorf("TTL %v: heartbeat %v, margin %v, timeout %v, grace %v",
				ttl, c.HeartbeatInterval, c.SafetyMargin, c.OpTimeout, c.DisconnectGracePeriod)
		}
	}
}

// TestLongestDurations: at the bounds themselves nothing wraps: a process that has given a role up
// stays away, and Stop waits for the drain.
func TestLongestDurations(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("a")
		const longest = 8760 * time.Hour
		cfg.DisconnectGracePeriod, cfg.DrainTimeout, cfg.CoolDown, cfg.RotationInterval = longest, longest, longest, longest
		cfg.SuccessionDelay, cfg.IdleFactor = time.Hour, 100_000
		began := make(chan *election.Term, 8)
		session := open(t, s, cfg)
		e, err := session.Campaign(election.RoleConfig{
			Role: "r", ValidationInterval: longest,
			Lead: func(_ context.Context, term *election.Term) error {
				began <- term
				time.Sleep(3 * time.Second)
				return errors.New("fails")
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		receive(t, "a term", began)
		time.Sleep(time.Minute)
		none(t, "it leads again", began)
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
}
