package tasks

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func at(s int) time.Time { return time.Unix(1000+int64(s), 0) }

// run is an attempt of task t; to < 0 leaves it open.
func run(process string, epoch uint64, n uint32, from, to int, how string) Run {
	instance, _, _ := strings.Cut(process, "#")
	r := Run{Task: "t", Epoch: epoch, N: n, Process: process, Instance: instance, Session: 5, From: at(from), How: how}
	if to >= 0 {
		r.To = at(to)
	}
	return r
}

func stubborn(r Run) Run {
	r.Stubborn = 3 * time.Second
	return r
}

// TestSweepRunsFindsPlantedFaults: a checker that finds nothing is only worth something if it finds
// what is there.
func TestSweepRunsFindsPlantedFaults(t *testing.T) {
	lost := func(process string, s int) sessionEnds {
		return sessionEnds{lost: map[session]time.Time{{process, 5}: at(s)}}
	}
	other := run("b#1", 7, 1, 4, 6, "x")
	other.Task = "u"
	for _, c := range []struct {
		name string
		runs []Run
		ends sessionEnds
		want []string
	}{
		{"one after the other", []Run{run("a#0", 7, 1, 0, 4, "x"), run("b#1", 7, 2, 4, 6, succeeded)}, sessionEnds{}, nil},
		{
			"two at once",
			[]Run{run("a#0", 7, 1, 0, 5, "x"), run("b#1", 7, 2, 4, 6, succeeded)},
			sessionEnds{},
			[]string{"T5: two"},
		},
		{"of different tasks", []Run{run("a#0", 7, 1, 0, 5, "x"), other}, sessionEnds{}, nil},
		{
			"one that never ended",
			[]Run{run("a#0", 7, 1, 0, -1, ""), run("b#1", 7, 2, 4, 6, succeeded)},
			sessionEnds{},
			[]string{"T5: two"},
		},
		{"within a long one, behind a short one", []Run{
			run("a#0", 7, 1, 0, 20, "x"), run("b#1", 7, 2, 2, 3, "x"),
			run("b#1", 7, 3, 5, 6, "x"),
		}, sessionEnds{}, []string{"T5: two", "T5: two"}},
		{
			"beside one whose session is lost",
			[]Run{run("a#0", 7, 1, 0, 5, "x"), run("b#1", 7, 2, 4, 6, succeeded)},
			lost("a#0", 3),
			[]string{"T5: it ran on", "T5: two"},
		},
		{"and which does not heed its context", []Run{
			stubborn(run("a#0", 7, 1, 0, 5, "x")),
			run("b#1", 7, 2, 4, 6, succeeded),
		}, lost("a#0", 3), nil},
		{
			"but not before it is lost",
			[]Run{stubborn(run("a#0", 7, 1, 0, 5, "x")), run("b#1", 7, 2, 2, 6, succeeded)},
			lost("a#0", 3),
			[]string{"T5: two"},
		},
		{"and not for ever", []Run{stubborn(run("a#0", 7, 1, 0, 7, "x"))}, lost("a#0", 3), []string{"T5: it ran on"}},
		{
			"after it was killed, or closed",
			[]Run{run("a#0", 7, 1, 0, 4, "x")},
			sessionEnds{over: map[over]time.Time{{"a", 5}: at(3)}},
			[]string{"T5: it ran on"},
		},
		{
			"twice",
			[]Run{run("a#0", 7, 1, 0, 4, "x"), run("b#1", 7, 1, 5, 6, "x")},
			sessionEnds{},
			[]string{"an attempt was run twice"},
		},
		{
			"an epoch that goes back",
			[]Run{run("a#0", 7, 1, 0, 1, "x"), run("a#0", 6, 2, 2, 3, "x")},
			sessionEnds{},
			[]string{"T3"},
		},
		{
			"far back",
			[]Run{run("a#0", 7, 1, 0, 1, "x"), run("a#0", 8, 1, 2, 3, "x"), run("a#0", 7, 2, 4, 5, "x")},
			sessionEnds{},
			[]string{"T3"},
		},
		{"in one moment", []Run{run("a#0", 7, 1, 0, 0, "x"), run("a#0", 6, 2, 0, 0, "x")}, sessionEnds{}, nil},
		{"elsewhere", []Run{run("a#0", 7, 1, 0, 1, "x"), run("b#1", 6, 2, 2, 3, "x")}, sessionEnds{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, slices.Concat(sweepRuns(c.runs, c.ends, at(30)), sweepEpochs(c.runs, 0)), c.want)
		})
	}
}

func submission(revision uint64, s int, unique string) Record {
	return Record{Revision: revision, Stored: at(s), Kind: "plain", Unique: unique}
}

func outcome(revision uint64, s int, status string, epoch uint64, n uint32, worker string) Record {
	return Record{
		Revision: revision, Stored: at(s), Outcome: &Outcome{Status: status, Epoch: epoch, Attempt: n, Worker: worker},
		Output: Output("t", epoch, n), Failed: status == "dead",
	}
}

// TestSweepRecordsFindsPlantedFaults: the same for what is stored.
func TestSweepRecordsFindsPlantedFaults(t *testing.T) {
	done, dead := outcome(9, 6, succeeded, 7, 2, "a"), outcome(9, 6, "dead", 7, 2, "a")
	fine, failed := []Run{run("a#0", 7, 2, 0, 5, succeeded)}, []Run{run("a#0", 7, 2, 0, 5, "it fails")}
	wrong := done
	wrong.Output = Output("t", 7, 1)
	for _, c := range []struct {
		name     string
		history  []Record
		runs     []Run
		requeued int
		gaps     bool
		want     []string
	}{
		{"as it should be", []Record{submission(2, 0, ""), done}, fine, 0, false, nil},
		{
			"two outcomes",
			[]Record{submission(2, 0, ""), done, outcome(11, 6, succeeded, 7, 2, "a")},
			fine, 0, false,
			[]string{"T1: an outcome"},
		},
		{
			"submitted again",
			[]Record{submission(2, 0, ""), done, submission(11, 6, "")},
			fine, 1, false,
			[]string{"T1: an outcome"},
		},
		{"requeued", []Record{submission(2, 0, ""), dead, submission(11, 6, "")}, failed, 1, false, nil},
		{
			"requeued, and nobody asked",
			[]Record{submission(2, 0, ""), dead, submission(11, 6, "")},
			failed, 0, false,
			[]string{"T1: an outcome"},
		},
		{
			"submitted twice",
			[]Record{submission(2, 0, ""), submission(3, 0, "")},
			nil, 0, false,
			[]string{"T1: a submission"},
		},
		{"requeued in a gap", []Record{submission(2, 0, ""), submission(3, 0, "")}, nil, 1, true, nil},
		{"of nobody", []Record{done}, nil, 0, false, []string{"T2: no such"}},
		{
			"of another worker",
			[]Record{done},
			[]Run{run("b#0", 7, 2, 0, 5, succeeded)},
			0, false,
			[]string{"T2: it ran on b"},
		},
		{"of another attempt", []Record{done}, []Run{run("a#0", 7, 1, 0, 5, succeeded)}, 0, false, []string{"T2: no such"}},
		{"with the output of another", []Record{wrong}, fine, 0, false, []string{"T2: the output"}},
		{"of one that failed", []Record{done}, failed, 0, false, []string{"T2: it ended otherwise"}},
		{"failed, of one that did not", []Record{dead}, fine, 0, false, []string{"T2: it ended otherwise"}},
		{
			"late, of the first of two",
			[]Record{submission(2, 0, ""), done},
			append(slices.Clone(fine), run("b#0", 8, 1, 5, 9, succeeded)), 0, false,
			[]string{"T2: another attempt"},
		},
		{
			"of the last of two",
			[]Record{submission(2, 0, ""), done},
			append(slices.Clone(fine), run("b#0", 7, 1, 0, 9, "x")),
			0, false, nil,
		},
		{
			"of one that was followed by another when it was stored",
			[]Record{submission(2, 0, ""), done},
			append(slices.Clone(fine), run("b#0", 8, 1, 7, 9, "x")), 0, false, nil,
		},
		{"beside an attempt of the submission before", []Record{
			submission(2, 0, ""), dead, submission(11, 8, ""),
			outcome(12, 11, succeeded, 7, 3, "a"),
		}, append(slices.Clone(failed), run("b#0", 8, 1, 7, 8, "x"),
			run("a#0", 7, 3, 9, 10, succeeded)), 1, false, nil},
		{"before it ended", []Record{done}, []Run{run("a#0", 7, 2, 0, 7, succeeded)}, 0, false, []string{"T2: it had not"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			records := map[string][]Record{"t": c.history}
			expect(t, slices.Concat(sweepRecords(records, map[string]int{"t": c.requeued}, c.gaps),
				sweepOutcomes(records, c.runs)), c.want)
		})
	}
}

// TestSweepKeysFindsPlantedFaults: unique keys, checkpoints and ticks.
func TestSweepKeysFindsPlantedFaults(t *testing.T) {
	end := outcome(4, 1, succeeded, 7, 1, "a")
	expect(t, sweepKeys(map[string][]Record{"t": {submission(2, 0, "k"), end}, "u": {submission(5, 2, "k")}}), nil)
	expect(t, sweepKeys(map[string][]Record{"t": {submission(2, 0, "k"), end}, "u": {submission(3, 1, "k")}}),
		[]string{"unique"})
	expect(t, sweepKeys(map[string][]Record{
		"t": {submission(2, 0, "k")}, "u": {submission(3, 1, "l")},
		"v": {submission(4, 1, "")},
	}), nil)

	records := map[string][]Record{"t": {submission(2, 0, "")}}
	saved := map[string][]save{"t": {{at(2), 1}, {at(3), 2}}}
	again := run("a#0", 7, 2, 4, 5, "x")
	expect(t, sweepCheckpoints(records, []Run{again}, saved), []string{"it was given checkpoint 0"})
	again.Saved = 2
	expect(t, sweepCheckpoints(records, []Run{again}, saved), nil)
	again.Saved = 0
	// requeued: it begins again
	records["t"] = append(records["t"], outcome(3, 3, "dead", 7, 1, "a"), submission(4, 4, ""))
	expect(t, sweepCheckpoints(records, []Run{again}, saved), nil)

	for _, c := range []struct {
		ticks []int
		fine  bool
	}{{nil, true}, {[]int{3}, true}, {[]int{3, 4, 5}, true}, {[]int{3, 5}, false}} {
		var ticks []time.Time
		for _, s := range c.ticks {
			ticks = append(ticks, at(s))
		}
		if err := evenly(ticks, time.Second); (err == nil) != c.fine {
			t.Errorf("ticks %v: %v", c.ticks, err)
		}
	}
}

func expect(t *testing.T, got []Violation, want []string) {
	t.Helper()
	var errs []error
	for _, v := range got {
		errs = append(errs, v.Err)
	}
	if len(got) != len(want) {
		t.Fatalf("found %d violations, want %d:\n%v", len(got), len(want), errors.Join(errs...))
	}
	for i, w := range want {
		if !strings.HasPrefix(errs[i].Error(), w) {
			t.Errorf("violation %d: %v, want %s", i, errs[i], w)
		}
	}
}
