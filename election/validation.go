package election

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/zone"
)

// ConfigError is one fault of a configuration. All faults of one are joined: errors.As finds the
// first, and the message has a line for each.
type ConfigError struct {
	Field string
	// Fix says what is wrong and how to fix it.
	Fix string
}

func (e *ConfigError) Error() string { return "election: " + e.Field + ": " + e.Fix }

type faults []error

func (f *faults) check(ok bool, field, fix string, args ...any) {
	if !ok {
		*f = append(*f, &ConfigError{field, fmt.Sprintf(fix, args...)})
	}
}

// present refuses a field that is required, and empty.
func (f *faults) present(field, value string) { f.check(value != "", field, "it is missing: set it") }

// name refuses a required field that cannot be part of a key.
func (f *faults) name(field, value string) {
	f.present(field, value)
	f.check(value == "" || naming.Valid(value), field, "%q cannot be part of a key: %s", value, nameRule)
}

// checkMeta refuses what the member record, which is JSON, would change.
func checkMeta(meta map[string]string) error {
	for name, value := range meta {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return &ConfigError{"Meta", fmt.Sprintf("%q: %q is not UTF-8: use an encoding such as base64", name, value)}
		}
	}
	return nil
}

// atMost refuses a duration that is longer than the longest one.
func (f *faults) atMost(field string, d, longest time.Duration) {
	f.check(d <= longest, field, "%v > %v: use at most %[2]v", d, longest)
}

const nameRule = "use letters, digits, - _ = / and dots, at most 200 bytes, no dot at the ends"

// checkConn refuses a connection on which a session cannot work. With nats.NoEcho a process does
// not receive its own messages: a leader could neither give its own process a task nor ask it.
func checkConn(nc *nats.Conn) error {
	switch {
	case nc == nil:
		return &ConfigError{"nc", "nil: connect to NATS first"}
	case nc.Opts.NoEcho:
		return &ConfigError{
			"nc",
			"made with nats.NoEcho(): this process would not receive its own messages: leave NoEcho out",
		}
	}
	return nil
}

// Validate returns every fault at once, nil when there is none. Zero values stand for their
// defaults.
func (c SessionConfig) Validate() error {
	c = c.withDefaults()
	var f faults
	f.present("Bucket", c.Bucket)
	f.check(c.Bucket == "" || naming.Word(c.Bucket, 100), "Bucket",
		"%q is not a valid bucket name: use letters, digits, - and _", c.Bucket)
	_, err := natskv.NewReach(c.Domain, c.APIPrefix)
	f.check(err == nil, "Domain", "%v", err)
	f.check(c.BucketID == "" || !c.BucketAutoCreate, "BucketID",
		"%s: a bucket that is created has another id: leave BucketAutoCreate off", c.BucketID)
	f.name("InstanceID", c.InstanceID)
	f.check(c.Replicas >= 1 && c.Replicas <= 5 && c.Replicas%2 == 1, "Replicas", "%d: use 1, 3 or 5", c.Replicas)
	f.check(c.MaxBytes == 0 || c.MaxBytes >= minMaxBytes, "MaxBytes",
		"%d: use at least %d (1 MiB), or 0 for no bound", c.MaxBytes, minMaxBytes)
	f.check(c.TTL >= minTTL, "TTL", "%v < %v: use at least %[2]v", c.TTL, minTTL)
	f.check(c.TTL <= record.MaxSupportedTTL, "TTL", "%v > %v: use less", c.TTL, record.MaxSupportedTTL)
	if c.TTL >= minTTL { // else what follows from it would be nonsense
		c.checkTimes(&f)
	}
	f.check(c.IdleFactor >= 1, "IdleFactor", "%d: use 1 or more", c.IdleFactor)
	f.check(c.IdleFactor <= protocol.MaxIdleFactor, "IdleFactor", "%d: use at most %d", c.IdleFactor,
		protocol.MaxIdleFactor)
	f.check(c.MaxRoles >= 0, "MaxRoles", "%d: use a positive number, or 0 for no limit", c.MaxRoles)
	f.check(c.Capacity >= 0 && c.Capacity <= record.MaxCapacity, "Capacity", "%d: use 1 to %d", c.Capacity,
		record.MaxCapacity)
	f.check(c.Zone == "" || naming.Valid(c.Zone), "Zone", "%q is not a valid name of a zone: %s", c.Zone, nameRule)
	f.atMost("DisconnectGracePeriod", c.DisconnectGracePeriod, protocol.MaxDuration)
	for _, d := range []struct {
		field string
		value time.Duration
		most  time.Duration
	}{
		{"SuccessionDelay", c.SuccessionDelay, protocol.MaxDelta},
		{"DrainTimeout", c.DrainTimeout, protocol.MaxDuration},
		{"CoolDown", c.CoolDown, protocol.MaxDuration},
		{"RotationInterval", c.RotationInterval, protocol.MaxDuration},
	} {
		f.check(d.value >= 0, d.field, "%v: use a positive duration, or 0 for the default", d.value)
		f.atMost(d.field, d.value, d.most)
	}
	if err := checkMeta(c.Meta); err != nil {
		f = append(f, err)
	}
	for i, s := range c.Sinks {
		f.check(s != nil, "Sinks", "sink %d is nil: leave it out", i)
	}
	return errors.Join(f...)
}

// checkTimes compares what follows from the TTL with it.
func (c *SessionConfig) checkTimes(f *faults) {
	f.check(c.HeartbeatInterval > 0, "HeartbeatInterval", "%v: use a positive duration, or 0 for TTL/5",
		c.HeartbeatInterval)
	f.check(c.HeartbeatInterval <= c.TTL/3, "HeartbeatInterval",
		"TTL %v < 3 × heartbeat %v: use at most %v", c.TTL, c.HeartbeatInterval, c.TTL/3)
	f.check(c.OpTimeout > 0 && c.OpTimeout < c.HeartbeatInterval, "OpTimeout",
		"%v is not within (0, heartbeat %v): use %v", c.OpTimeout, c.HeartbeatInterval, c.HeartbeatInterval/2)
	f.check(c.SafetyMargin > 0, "SafetyMargin", "%v: without a margin two leaders can overlap; use TTL/5 = %v",
		c.SafetyMargin, c.TTL/5)
	most := c.TTL - 2*c.HeartbeatInterval // not above 0: the heartbeat is to blame, which was told
	f.check(most <= 0 || c.SafetyMargin <= most, "SafetyMargin",
		"TTL %v − margin %v leaves fewer than two heartbeats of %v before the deadline: use at most %v",
		c.TTL, c.SafetyMargin, c.HeartbeatInterval, most)
	f.check(c.DisconnectGracePeriod >= 2*c.HeartbeatInterval, "DisconnectGracePeriod",
		"%v < 2 × heartbeat %v: use at least %v", c.DisconnectGracePeriod, c.HeartbeatInterval, 2*c.HeartbeatInterval)
	f.check(c.RotationInterval == 0 || c.RotationInterval >= c.HeartbeatInterval, "RotationInterval",
		"%v < heartbeat %v: use at least one heartbeat, or 0 for never", c.RotationInterval, c.HeartbeatInterval)
}

// Validate returns every fault at once. heartbeat is that of the session.
func (c RoleConfig) Validate(heartbeat time.Duration) error {
	c = c.withDefaults()
	var f faults
	f.name("Role", c.Role)
	f.check(c.Priority == int(int32(c.Priority)), "Priority", "%d: use one of 32 bits, %d to %d", c.Priority,
		math.MinInt32, math.MaxInt32)
	f.check(!c.AllowPriorityTakeover || c.Priority > 0, "AllowPriorityTakeover",
		"role %q has priority %d: give it a Priority above 0, or leave takeover off", c.Role, c.Priority)
	f.check(c.MaxConsecutiveFailures > 0, "MaxConsecutiveFailures", "%d: use 1 or more", c.MaxConsecutiveFailures)
	f.check(c.ValidationInterval == 0 || c.ValidationInterval >= heartbeat, "ValidationInterval",
		"%v < heartbeat %v: use at least one heartbeat, or 0 for never", c.ValidationInterval, heartbeat)
	f.check(c.While == nil || !c.While.ended(), "While",
		"the election that role %q depends on has stopped, and never leads again: make a new one", c.Role)
	c.validateSpread(&f)
	c.validateZones(&f)
	f.atMost("ValidationInterval", c.ValidationInterval, protocol.MaxDuration)
	return errors.Join(f...)
}

func (c RoleConfig) validateSpread(f *faults) {
	f.check(c.Group == "" || naming.Valid(c.Group), "Group", "%q cannot be part of a key: %s", c.Group, nameRule)
	f.check(c.Shards >= 0, "Shards", "%d: use a positive number, or 0", c.Shards)
	f.check(c.Shards == 0 || c.Spread && c.Group != "", "Shards",
		"role %q has no Group, or no Spread: shards are spread roles of one group", c.Role)
	f.check(len(c.Apart) == 0 || c.Spread, "Apart",
		"role %q is not spread, so it never moves away from another one: set Spread, or leave Apart out", c.Role)
	for i, other := range c.Apart {
		f.check(other != c.Role, "Apart", "role %q cannot be apart from itself: leave it out", c.Role)
		f.check(naming.Valid(other), "Apart", "%q is not a name of a role: %s", other, nameRule)
		f.check(!slices.Contains(c.Apart[:i], other), "Apart", "role %q is there twice: name it once", other)
	}
}

func (c RoleConfig) validateZones(f *faults) {
	f.check(len(c.Zones) <= zone.MaxZones, "Zones", "%d zones: name %d at most", len(c.Zones), zone.MaxZones)
	for i, name := range c.Zones {
		f.check(naming.Valid(name), "Zones", "%q is not a valid name of a zone: %s", name, nameRule)
		f.check(!slices.Contains(c.Zones[:i], name), "Zones", "zone %q is there twice: name it once", name)
	}
	f.check(len(c.Zones) == 0 || -zone.MaxPriority <= c.Priority && c.Priority <= zone.MaxPriority, "Priority",
		"%d: a role with Zones has one of %d to %d", c.Priority, -zone.MaxPriority, zone.MaxPriority)
	f.check(!c.ZonesOnly || len(c.Zones) > 0, "ZonesOnly", "role %q names no Zones, so nobody could lead it: name some",
		c.Role)
	f.check(c.FailBackAfter == 0 || len(c.Zones) > 0, "FailBackAfter",
		"role %q names no Zones, so none is better: name some, or leave it out", c.Role)
	f.check(c.FailBackAfter >= 0, "FailBackAfter", "%v: use a positive duration, or 0 for never", c.FailBackAfter)
	f.atMost("FailBackAfter", c.FailBackAfter, protocol.MaxDuration)
}

// Validate returns every fault of both parts.
func (c Config) Validate() error {
	return errors.Join(c.SessionConfig.Validate(), c.RoleConfig.Validate(c.SessionConfig.withDefaults().HeartbeatInterval))
}

// defaultInstanceID is the host name and eight random hex digits: unique without any configuration,
// and readable.
func defaultInstanceID() string {
	host, err := os.Hostname()
	host = strings.Trim(strings.Map(func(c rune) rune {
		if c < 128 && naming.Valid(string(c)) || c == '.' {
			return c
		}
		return '-'
	}, host), ".")
	if err != nil || !naming.Valid(host) {
		host = "node"
	}
	return host + "-" + uuid.NewString()[:8]
}
