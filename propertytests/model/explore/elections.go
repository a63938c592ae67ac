package explore

import (
	"slices"

	"github.com/rolemanager/rolemanager/propertytests/model/explore/elections"
)

// most says how often each kind of fault is allowed.
type most = map[elections.Fault]int

// every allows each kind of fault so often.
func every(n int) most {
	m := most{}
	for f := range elections.Faults {
		m[f] = n
	}
	return m
}

// base is what the configurations have in common: times as short as the rules allow, and no delay
// that would keep two candidates from doing the same thing at once.
func base(name string, members, roles, faults int) elections.Config {
	return elections.Config{
		Name: name, Members: members, Roles: roles, Faults: faults, Most: every(faults), Coarse: true, Settled: true,
		TTL: 3, Heartbeat: 1, Margin: 1, OpTimeout: 1, MaxTTL: 3, CoolDown: 1, Drain: 3,
	}
}

// drifting lets one clock run ahead of the other by one unit, with the margin that just allows for
// it.
func drifting(c elections.Config) elections.Config {
	c.Lead = 1
	c.TTL, c.Heartbeat, c.Margin, c.MaxTTL, c.Drain = 6, 2, 2, 6, 6
	return c
}

func with(c elections.Config, change func(*elections.Config)) elections.Config {
	change(&c)
	return c
}

// Elections are the configurations of elections that are searched.
func Elections() []elections.Config {
	return slices.Concat(alone(), together(), spread(), finite(), repeated())
}

// alone are two members and one role.
func alone() []elections.Config {
	return []elections.Config{
		base("one fault", 2, 1, 1),
		with(base("succession of two", 2, 1, 1), func(c *elections.Config) {
			c.Most, c.Delta = most{elections.Crash: 1, elections.Evict: 1, elections.StepDown: 1}, 1
		}),
		with(drifting(base("drift and a crash", 2, 1, 1)), func(c *elections.Config) {
			c.Most = most{elections.Crash: 1}
		}),
		with(drifting(base("drift", 2, 1, 1)), func(c *elections.Config) {
			c.Most = most{elections.Pause: 1, elections.DelayRequest: 1, elections.DelayReply: 1}
		}),
		drifting(base("drift, any fault", 2, 1, 1)),
		with(base("starting", 2, 1, 1), func(c *elections.Config) { c.Settled = false }),
		with(base("every interleaving", 2, 1, 1), func(c *elections.Config) { c.Coarse = false }),
		with(base("blind and evicted", 2, 1, 2), func(c *elections.Config) {
			c.Most = most{elections.StallWatch: 1, elections.Evict: 1}
		}),
		with(base("late vacate", 2, 1, 2), func(c *elections.Config) {
			c.Most = most{elections.StepDown: 1, elections.DelayRequest: 1}
		}),
		with(base("late kill", 2, 1, 2), func(c *elections.Config) {
			c.Most = most{elections.Pause: 1, elections.DelayRequest: 1}
		}),
		with(base("slow drain", 2, 1, 2), func(c *elections.Config) {
			c.Most, c.Undrained = most{elections.Evict: 1, elections.SlowDrain: 1}, true
		}),
		base("two faults", 2, 1, 2),
		with(drifting(base("drift, delays and a pause", 2, 1, 2)), func(c *elections.Config) {
			c.Most = most{elections.Pause: 1, elections.DelayReply: 1, elections.DelayRequest: 1}
		}),
		drifting(base("drift, two faults", 2, 1, 2)),
		with(base("priorities", 2, 1, 1), func(c *elections.Config) { c.Priorities, c.Takeover = []int{0, 1}, true }),
		with(drifting(base("idle members", 2, 1, 1)), func(c *elections.Config) { c.IdleFactor, c.MaxTTL = 2, 12 }),
		with(base("former session", 2, 1, 1), func(c *elections.Config) {
			c.Most, c.Crashed, c.Late = most{elections.DelayRequest: 1}, true, 1
			c.IdleFactor, c.TTL, c.MaxTTL = 2, 5, 10
		}),
		with(base("rotation", 2, 1, 1), func(c *elections.Config) { c.Rotation = 3 }),
	}
}

// together are more members, or more roles. Any two faults are many: so there are some of two sorts
// that go further.
func together() []elections.Config {
	return []elections.Config{
		base("three members", 3, 1, 1),
		base("three members, two faults", 3, 1, 2),
		base("two roles", 2, 2, 1),
		base("two roles, two faults", 2, 2, 2),
		base("three members, two roles", 3, 2, 2),
		with(base("three members, crashes", 3, 1, 2), func(c *elections.Config) {
			c.Most = most{elections.Crash: 2}
		}),
		with(base("three members, late and evicted", 3, 1, 2), func(c *elections.Config) {
			c.Most = most{elections.DelayRequest: 1, elections.StallWatch: 1, elections.Evict: 1}
		}),
		with(base("two roles, late and evicted", 2, 2, 2), func(c *elections.Config) {
			c.Most = most{elections.DelayRequest: 1, elections.StallWatch: 1, elections.Evict: 1}
		}),
		with(base("three members, a silent leader", 3, 1, 2), func(c *elections.Config) { c.Crashed, c.Silent = true, 2 }),
		with(base("three members, two roles, a silent leader", 3, 2, 2),
			func(c *elections.Config) { c.Crashed, c.Silent = true, 2 }),
		with(base("three members, a paused leader", 3, 1, 2), func(c *elections.Config) { c.Paused, c.Silent = true, 2 }),
		with(base("three members, two roles, a paused leader", 3, 2, 2),
			func(c *elections.Config) { c.Paused, c.Silent = true, 2 }),
		with(base("three members, two roles, one fault beside a paused leader", 3, 2, 1),
			func(c *elections.Config) { c.Paused, c.Silent = true, 2 }),
		with(drifting(base("drift, two roles, one fault beside a paused leader", 2, 2, 1)),
			func(c *elections.Config) { c.Paused, c.Silent = true, 4 }),
		with(drifting(base("drift, three members, one fault beside a paused leader", 3, 1, 1)),
			func(c *elections.Config) { c.Paused, c.Silent = true, 4 }),
		with(base("succession with a delay", 3, 1, 2), func(c *elections.Config) {
			c.Most = most{elections.Crash: 1, elections.Evict: 1, elections.StepDown: 1, elections.DelayRequest: 1}
			c.Delta = 1
		}),
	}
}

// finite are more members, or more roles, with bounds so narrow that a long run comes to the end of
// them: nobody comes back who has crashed, hearts beat at different moments, time ends soon. In
// each a role changes hands.
func finite() []elections.Config {
	changes := most{
		elections.Crash: 1, elections.Evict: 1, elections.StepDown: 1, elections.Transfer: 1,
		elections.Close: 1,
	}
	gone := func(c *elections.Config) { c.Crashed, c.Silent, c.Gone = true, 2, true }
	return []elections.Config{
		with(base("three members, the leader is gone", 3, 1, 0), gone),
		with(base("three members, two roles, the leader is gone", 3, 2, 0), gone),
		with(base("three members, the leader is gone, a delay", 3, 1, 1), func(c *elections.Config) {
			gone(c)
			c.Most = most{elections.DelayRequest: 1, elections.DelayReply: 1}
		}),
		with(base("three members, the leader is gone, any fault for two units", 3, 1, 1), func(c *elections.Config) {
			gone(c)
			c.Units = 2
		}),
		with(base("three members apart, a crash", 3, 1, 1), func(c *elections.Config) {
			c.Most, c.Gone = most{elections.Crash: 1}, true
			c.TTL, c.Heartbeat, c.MaxTTL, c.Drain, c.Apart = 9, 3, 9, 9, 1
		}),
		with(base("three members, a unit beside a paused leader", 3, 1, 0), func(c *elections.Config) {
			c.Paused, c.Silent, c.Units = true, 2, 1
		}),
		with(base("two roles change hands", 2, 2, 1), func(c *elections.Config) { c.Most = changes }),
		with(base("two roles, a paused leader", 2, 2, 0), func(c *elections.Config) { c.Paused, c.Silent = true, 2 }),
	}
}

// repeated are messages that come twice, each kind of them also where something else goes wrong.
func repeated() []elections.Config {
	return []elections.Config{
		with(base("repeated", 2, 1, 1), func(c *elections.Config) {
			c.Most = most{elections.RepeatRequest: 1, elections.RepeatReply: 1, elections.RepeatWatch: 1}
		}),
		with(base("repeated twice", 2, 1, 2), func(c *elections.Config) {
			c.Most = most{elections.RepeatRequest: 2, elections.RepeatReply: 2, elections.RepeatWatch: 2}
		}),
		with(base("repeated, starting", 2, 1, 2), func(c *elections.Config) {
			c.Settled = false
			c.Most = most{
				elections.RepeatRequest: 1, elections.RepeatReply: 1, elections.RepeatWatch: 1,
				elections.Crash: 1, elections.DelayRequest: 1,
			}
		}),
		with(base("repeated while a role changes hands", 2, 1, 2), func(c *elections.Config) {
			c.Most = most{
				elections.RepeatRequest: 1, elections.RepeatReply: 1, elections.RepeatWatch: 1,
				elections.StepDown: 1, elections.Evict: 1, elections.Crash: 1,
			}
		}),
		with(drifting(base("repeated answers", 2, 1, 3)), func(c *elections.Config) {
			c.Most = most{elections.RepeatReply: 1, elections.DelayRequest: 1, elections.Pause: 1}
		}),
		with(base("repeated to the idle", 2, 1, 2), func(c *elections.Config) {
			c.Most = most{elections.RepeatRequest: 1, elections.RepeatReply: 1, elections.RepeatWatch: 1}
			c.IdleFactor, c.TTL, c.MaxTTL, c.Crashed, c.Late = 2, 5, 10, true, 1
		}),
		with(base("repeated requests", 2, 1, 3), func(c *elections.Config) {
			c.Most = most{elections.StepDown: 2, elections.Transfer: 1, elections.RepeatControl: 1}
		}),
		with(base("repeated records", 2, 1, 2), func(c *elections.Config) {
			c.Most = most{elections.RepeatWatch: 2, elections.LagWatch: 1, elections.StallWatch: 1, elections.Evict: 1}
		}),
	}
}

// spread are roles that are spread. Where members join late, the first one leads both roles, and
// gives one away.
func spread() []elections.Config {
	late := func(n int) func(*elections.Config) {
		return func(c *elections.Config) { c.Spread, c.Late = true, n }
	}
	return []elections.Config{
		with(base("two roles, spread", 2, 2, 1), late(0)),
		with(base("two roles, spread, two faults", 2, 2, 2), late(0)),
		with(base("three members, two roles, spread", 3, 2, 1), late(0)),
		with(base("two roles, spread, a member joins", 2, 2, 0), late(1)),
		with(base("two roles, spread, a member joins, any fault", 2, 2, 1), late(1)),
		with(base("three members, two roles, spread, two join", 3, 2, 0), late(2)),
		with(base("two roles, spread, one for each member", 2, 2, 1), func(c *elections.Config) {
			c.Spread, c.MaxRoles = true, 1
		}),
	}
}
