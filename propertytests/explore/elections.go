package explore

import "github.com/rolemanager/rolemanager/propertytests/explore/elections"

// every allows each kind of fault so often.
func every(n int) map[elections.Fault]int {
	m := map[elections.Fault]int{}
	for f := range elections.Faults {
		m[f] = n
	}
	return m
}

// base is what the configurations have in common: times as short as the rules allow, and no delay that would keep two
// candidates from doing the same thing at once.
func base(name string, members, roles, faults int) elections.Config {
	return elections.Config{
		Name: name, Members: members, Roles: roles, Faults: faults, Most: every(faults), Coarse: true, Settled: true,
		TTL: 3, Heartbeat: 1, Margin: 1, OpTimeout: 1, MaxTTL: 3, CoolDown: 1, Drain: 3,
	}
}

// drifting lets one clock run ahead of the other by one unit, with the margin that just allows for it.
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
	return []elections.Config{
		base("one fault", 2, 1, 1),
		with(base("succession of two", 2, 1, 1), func(c *elections.Config) {
			c.Most, c.Delta = map[elections.Fault]int{elections.Crash: 1, elections.Evict: 1, elections.StepDown: 1}, 1
		}),
		with(drifting(base("drift and a crash", 2, 1, 1)), func(c *elections.Config) {
			c.Most = map[elections.Fault]int{elections.Crash: 1}
		}),
		with(drifting(base("drift", 2, 1, 1)), func(c *elections.Config) {
			c.Most = map[elections.Fault]int{elections.Pause: 1, elections.DelayRequest: 1, elections.DelayReply: 1}
		}),
		drifting(base("drift, any fault", 2, 1, 1)),
		with(base("starting", 2, 1, 1), func(c *elections.Config) { c.Settled = false }),
		with(base("every interleaving", 2, 1, 1), func(c *elections.Config) { c.Coarse = false }),
		with(base("blind and evicted", 2, 1, 2), func(c *elections.Config) {
			c.Most = map[elections.Fault]int{elections.StallWatch: 1, elections.Evict: 1}
		}),
		with(base("late vacate", 2, 1, 2), func(c *elections.Config) {
			c.Most = map[elections.Fault]int{elections.StepDown: 1, elections.DelayRequest: 1}
		}),
		with(base("slow drain", 2, 1, 2), func(c *elections.Config) {
			c.Most, c.Undrained = map[elections.Fault]int{elections.Evict: 1, elections.SlowDrain: 1}, true
		}),
		base("two faults", 2, 1, 2),
		with(drifting(base("drift, delays and a pause", 2, 1, 2)), func(c *elections.Config) {
			c.Most = map[elections.Fault]int{elections.Pause: 1, elections.DelayReply: 1, elections.DelayRequest: 1}
		}),
		drifting(base("drift, two faults", 2, 1, 2)),
		base("three members", 3, 1, 1),
		base("two roles", 2, 2, 1),
		with(base("priorities", 2, 1, 1), func(c *elections.Config) { c.Priorities, c.Takeover = []int{0, 1}, true }),
		with(drifting(base("idle members", 2, 1, 1)), func(c *elections.Config) { c.IdleFactor, c.MaxTTL = 2, 12 }),
		with(base("former session", 2, 1, 1), func(c *elections.Config) {
			c.Most, c.Crashed, c.Late = map[elections.Fault]int{elections.DelayRequest: 1}, true, 1
			c.IdleFactor, c.TTL, c.MaxTTL = 2, 5, 10
		}),
		with(base("rotation", 2, 1, 1), func(c *elections.Config) { c.Rotation = 3 }),
		with(base("succession with a delay", 3, 1, 1), func(c *elections.Config) { c.Delta = 1 }),
	}
}
