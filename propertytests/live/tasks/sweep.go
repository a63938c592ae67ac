package tasks

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// Violation is a promise that was not kept.
type Violation struct {
	Task string // "" for none
	Err  error
}

// Check reports every violation so far as errors of the test, with the history of the tasks and
// what led to them. It reports whether there was none.
func (a *Arena) Check() bool {
	a.TB.Helper()
	natstest.Settle(a.TB)
	violations := a.violations()
	for i, v := range violations {
		if i == 5 {
			a.TB.Errorf("and %d more", len(violations)-i)
			break
		}
		a.TB.Errorf("%s: %v\n%s", v.Task, v.Err, a.History(v.Task))
	}
	if len(violations) > 0 {
		a.TB.Logf("what led to it:%s", a.Lately())
	}
	return len(violations) == 0
}

// heeding is how long a goroutine may take to continue in real time, when the machine does
// something else: to call a handler, and to return from one whose context has ended.
const heeding = time.Second

func (a *Arena) violations() (violations []Violation) {
	runs := a.Ledger.Runs()
	l, c := a.Ledger, a.RecordLog
	l.mu.Lock()
	ends, saved := sessionEnds{lost: maps.Clone(l.ends)}, maps.Clone(l.saved)
	faults := slices.Clone(l.faults)
	l.mu.Unlock()
	c.mu.Lock()
	ends.over = maps.Clone(c.over)
	records, requeued, acked, promised := maps.Clone(c.tasks), maps.Clone(c.requeued), maps.Clone(c.acked),
		maps.Clone(c.promised)
	sizes, waiting, bundles := maps.Clone(c.groups), maps.Clone(c.waiting), maps.Clone(c.bundles)
	faults = append(faults, c.faults...)
	c.mu.Unlock()
	for _, err := range faults {
		violations = append(violations, Violation{"", err})
	}
	slack := time.Duration(0)
	if !a.virtual() {
		slack = heeding
	}
	for i := range runs {
		runs[i].Stubborn = max(runs[i].Stubborn, slack)
	}
	violations = append(violations, sweepRuns(runs, ends, time.Now())...)
	violations = append(violations, sweepEpochs(runs, slack)...)
	violations = append(violations, sweepRecords(records, requeued, a.Restarts)...)
	violations = append(violations, sweepOutcomes(records, runs)...)
	violations = append(violations, sweepKeys(records)...)
	violations = append(violations, sweepGroups(records, sizes, runs)...)
	violations = append(violations, sweepWaits(records, waiting, runs)...)
	if a.virtual() {
		now := time.Now()
		violations = append(violations, sweepLimit(records, runs, ends, Few.Name(), atOnce, now)...)
		violations = append(violations, sweepInnocents(records, runs, ends, now)...)
		violations = append(violations, sweepBundles(records, bundles)...)
	}
	violations = append(violations, sweepCheckpoints(records, runs, saved)...)
	for id, what := range promised {
		if history := records[id]; len(history) > 0 && !history[len(history)-1].is(what) {
			violations = append(violations, Violation{id, fmt.Errorf("its submitter was told %q", what)})
		}
	}
	for id, at := range acked {
		if len(records[id]) == 0 && time.Since(at) > time.Minute { // the watch may be behind, after a restart
			violations = append(violations, Violation{id, fmt.Errorf("T4: it was acknowledged at %v, and is not stored", at)})
		}
	}
	return violations
}

// sweepRecords is T1: one outcome for each submission, and only of a dead task another submission
// takes its place, as often as it was asked for. An outcome that a task waits for is written again,
// and says the same. gaps says that records may be missing.
func sweepRecords(records map[string][]Record, requeued map[string]int, gaps bool) (violations []Violation) {
	for id, history := range records {
		lives := requeued[id]
		for i := range history[1:] {
			before, r := &history[i], &history[i+1]
			switch {
			case before.Outcome != nil && r.Outcome != nil && r.Again && *before.Outcome == *r.Outcome:
			case before.Outcome == nil && r.Outcome == nil && gaps && lives > 0:
				lives--
			case before.Outcome == nil && r.Outcome == nil:
				violations = append(violations,
					Violation{id, fmt.Errorf("T1: a submission replaces a submission:\n  %v\n  %v", before, r)})
			case before.Outcome != nil && (before.Outcome.Status != "dead" || lives == 0):
				violations = append(violations, Violation{id, fmt.Errorf("T1: an outcome was replaced:\n  %v\n  %v", before, r)})
			case before.Outcome != nil:
				lives--
			}
		}
	}
	return violations
}

// sweepOutcomes is T2: an outcome names an attempt that has run before, to that end, and after
// which no other one had begun.
func sweepOutcomes(records map[string][]Record, runs []Run) (violations []Violation) {
	ran := map[string][]*Run{}
	for i := range runs {
		ran[runs[i].Task] = append(ran[runs[i].Task], &runs[i])
	}
	for id, history := range records {
		var submitted time.Time
		for i := range history {
			r := &history[i]
			if r.Outcome == nil {
				submitted = r.Stored
				continue
			}
			var named, later *Run
			for _, run := range ran[id] {
				switch c := cmp.Or(cmp.Compare(run.Epoch, r.Outcome.Epoch), cmp.Compare(run.N, r.Outcome.Attempt)); {
				case c == 0:
					named = run
				case c > 0 && run.From.After(submitted) && run.From.Before(r.Stored):
					later = run
				}
			}
			if err := r.fits(id, named, later); err != nil {
				violations = append(violations, Violation{id, fmt.Errorf("T2: %w:\n  %v", err, r)})
			}
		}
	}
	return violations
}

// fits compares an outcome with the attempt that it names, nil when no handler was called for it,
// and with one that began later.
func (r *Record) fits(id string, run, later *Run) error {
	o := r.Outcome
	if o.Status != succeeded && !r.Failed {
		return nil // nothing was accepted of any attempt
	}
	switch {
	case run == nil:
		return fmt.Errorf("no such attempt has run")
	case run.Instance != o.Worker:
		return fmt.Errorf("it ran on %s", run.Instance)
	case run.To.IsZero() || run.To.After(r.Stored):
		return fmt.Errorf("it had not ended: %v", run)
	case later != nil:
		return fmt.Errorf("another attempt had begun: %v", later)
	case (run.How == succeeded) != (o.Status == succeeded):
		return fmt.Errorf("it ended otherwise: %v", run)
	case o.Status == succeeded && r.Output != Output(id, run.Epoch, run.N):
		return fmt.Errorf("the output is another attempt's")
	}
	return nil
}

// is reports whether a record says what a caller was told.
func (r *Record) is(what string) bool {
	return r.Outcome != nil && (r.Output == what || r.Outcome.Status == what)
}

// Settled insists that every task ends that was submitted before now, and that all that was
// acknowledged is there: T4.
func (a *Arena) Settled(within time.Duration) {
	a.TB.Helper()
	now, began := time.Now(), time.Now()
	tick := time.NewTicker(a.TTL / 4)
	defer tick.Stop()
	for {
		natstest.Settle(a.TB)
		open := a.RecordLog.Open(now)
		for id := range a.unseen() {
			open = append(open, id+" (acknowledged, and not stored)")
		}
		if len(open) == 0 {
			return
		}
		if time.Since(began) > within {
			slices.Sort(open)
			a.TB.Errorf("T4: open %v after the last fault: %d tasks, such as %v\n%s", within, len(open),
				open[:min(len(open), 5)], a.History(open[0]))
			a.TB.Fatalf("%s\nwhat led to it:%s", a.overview(), a.Lately())
		}
		<-tick.C
	}
}

// overview is what the scheduler says.
func (a *Arena) overview() string {
	ctx, cancel := context.WithTimeout(a.TB.Context(), time.Minute)
	defer cancel()
	o, err := assign.GetOverview(ctx, a.Operator)
	if err != nil {
		return fmt.Sprintf("no overview: %v", err)
	}
	return fmt.Sprintf("the scheduler says: %+v", o)
}

func (a *Arena) unseen() map[string]time.Time {
	c := a.RecordLog
	c.mu.Lock()
	defer c.mu.Unlock()
	unseen := maps.Clone(c.acked)
	maps.DeleteFunc(unseen, func(id string, _ time.Time) bool { return len(c.tasks[id]) > 0 })
	return unseen
}

// History is all that is known of a task.
func (a *Arena) History(id string) (lines string) {
	for _, r := range a.RecordLog.History(id) {
		lines += fmt.Sprintf("  record %v\n", &r)
	}
	for _, r := range a.Ledger.Of(id) {
		lines += fmt.Sprintf("  attempt %v\n", &r)
	}
	return lines
}
