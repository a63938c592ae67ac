package stage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// failover is one role that changed hands because of a fault.
type failover struct {
	Role string `json:"role"`
	// Kind is crash or graceful.
	Kind string `json:"kind"`
	From string `json:"from"`
	To   string `json:"to"`
	// GapMS ends with the next promotion. It begins when the leader vanished (crash), or when its
	// work had returned (graceful).
	GapMS float64 `json:"gap_ms"`
}

var errNoSuccessor = errors.New("a role has no successor after all this time")

const (
	crash    = "crash"
	graceful = "graceful"
)

// When the faults come: so many sixths of the tasks are done then.
const (
	killWhen   = 1
	vanishWhen = 4
	stopWhen   = 5
)

// injectFaults kills the worker, makes a leader vanish, and stops another one. It harms no leader
// if no instance of this process would be left, or if none of them leads a role.
func (d *demo) injectFaults(ctx context.Context) error {
	if err := d.job.awaitDone(ctx, killWhen); err != nil {
		return err
	}
	if err := d.killWorker(ctx); err != nil {
		return err
	}
	if err := d.job.awaitDone(ctx, vanishWhen); err != nil {
		return err
	}
	d.screen.snapshot(d.table())
	if victim, terms := d.victim(ctx); victim != nil {
		d.screen.say(yellow, "%s vanishes: its link drops every byte; it leads %s", victim.id, names(terms))
		from := d.history.now()
		victim.vanish()
		if err := d.await(ctx, crash, terms, func(term) (time.Duration, error) { return from, nil }); err != nil {
			return err
		}
	}
	if err := d.job.awaitDone(ctx, stopWhen); err != nil {
		return err
	}
	d.screen.snapshot(d.table())
	if victim, terms := d.victim(ctx); victim != nil {
		d.screen.say(yellow, "%s is stopped gracefully; it leads %s", victim.id, names(terms))
		d.cluster.stopSoon(victim)
		return d.await(ctx, graceful, terms, func(t term) (time.Duration, error) { return d.history.awaitEnd(ctx, t) })
	}
	return nil
}

// victim is a living instance that leads a role, the scheduler if possible, and the terms that it
// is in. It is nil if it would be the last of this process, or if other processes lead every role
// for longer than a lease lasts.
func (d *demo) victim(ctx context.Context) (chosen *instance, terms []term) {
	living := d.cluster.living()
	if len(living) < 2 {
		d.screen.say(yellow, "no leader is harmed: it would be the last instance of this process")
		return nil, nil
	}
	var ids []string
	for _, in := range living {
		ids = append(ids, in.id)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*d.options.ttl)
	defer cancel()
	if d.history.awaitLeader(ctx, ids) != nil {
		d.screen.say(yellow, "no instance of this process leads anything: none is harmed")
		return nil, nil
	}
	for _, in := range living {
		led := d.history.running(in.id)
		schedules := slices.ContainsFunc(led, func(t term) bool { return t.role == schedulerRole })
		if schedules || len(led) > len(terms) {
			chosen, terms = in, led
		}
		if schedules {
			break
		}
	}
	return chosen, terms
}

// await waits for the successor in each of the terms, and records how long each role was without a
// leader.
func (d *demo) await(ctx context.Context, kind string, terms []term, since func(term) (time.Duration, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second+5*d.options.ttl, errNoSuccessor)
	defer cancel()
	for _, t := range terms {
		from, err := since(t)
		if err != nil {
			return err
		}
		next, err := d.history.successor(ctx, t.role, t.epoch)
		if err != nil {
			return err
		}
		gap := next.at - from
		d.note(failover{t.role, kind, t.instance, next.instance, float64(gap.Microseconds()) / 1000})
		d.screen.say(green, "%s leads %s, %s %s", next.instance, t.role, gap.Round(10*time.Microsecond), after[kind])
	}
	return nil
}

func (d *demo) note(f failover) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failovers = append(d.failovers, f)
}

// after names the moment from which the gap of a failover counts.
var after = map[string]string{
	crash:    "after its leader vanished",
	graceful: "after the work of its last leader had returned",
}

// names are the roles of terms.
func names(terms []term) string {
	var all []string
	for _, role := range []string{schedulerRole, metricsRole, networkRole} {
		if slices.ContainsFunc(terms, func(t term) bool { return t.role == role }) {
			all = append(all, role)
		}
	}
	return strings.Join(all, ", ")
}
