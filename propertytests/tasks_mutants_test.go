package propertytests_test

import (
	"regexp"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/mutants"
)

// These are the tests that mutants of the driver of tasks are run against. What they meet too rarely, such as a late result that
// comes just while the next attempt runs, is for the simulation of the rules, which has mutants of its own.
var (
	atEveryWrite = mutants.Test{
		Package: "propertytests", Run: "^TestTasksSchedulerLostAtEveryWrite$", Args: []string{"-test.timeout", "3m"}, Says: foundBy,
	}
	acrossFailovers = mutants.Test{ // whoever reads again what was missed finds each tick's task as long as its outcome is kept
		Package: "assign", Run: "^TestTicksAcrossFailovers$", Args: []string{"-test.timeout", "3m"}, Says: foundBy,
	}
	poisoned = mutants.Test{Package: "assign", Run: "^Test(FutureEpochFrame|ForgedFrame)$", Args: []string{"-test.timeout", "3m"}, Says: foundBy}
	gated    = mutants.Test{Package: "assign", Run: "^TestGate$", Args: []string{"-test.timeout", "3m"}, Says: foundBy}
	reported = mutants.Test{Package: "assign", Run: "^TestAgain$", Args: []string{"-test.timeout", "3m"}, Says: foundBy}
	heard    = mutants.Test{
		Package: "assign", Run: "^TestReportsToAnotherSchedulerAreNotHeard$", Args: []string{"-test.timeout", "3m"}, Says: foundBy,
	}
	synced = mutants.Test{
		Package: "assign", Run: "^TestAnswersToAnotherSchedulerCountForNothing$", Args: []string{"-test.timeout", "3m"}, Says: foundBy,
	}
	afterTakeover = mutants.Test{
		Package: "assign", Run: "^TestDeposedSchedulersWritesAreRefused$", Args: []string{"-test.timeout", "3m"}, Says: foundBy,
	}
	inStorms = mutants.Test{
		Package: "propertytests/bubblestorms", Run: "^TestTasksStorms$", Args: []string{"-test.timeout", "3m"}, Says: foundBy,
	}
	foundBy = regexp.MustCompile(`(?:panic: |\w+_test\.go:\d+: )(?P<what>.*)`)
)

var taskMutants = mutants.Suite{Record: "mutants.csv", Mutants: []mutants.Mutant{
	{Name: "a tick is stored without its mark", By: &acrossFailovers, Edits: []mutants.Edit{{"assign/commits_records.go", "Key: tickKey + e.Recurrence.Name", "Key: tickKey + e.Recurrence.Name + \"-\""}}},
	{Name: "a checkpoint is stored as another one", By: &atEveryWrite, Edits: []mutants.Edit{{"assign/commits_records.go", "Key: checkpointKey + e.ID, Value: e.Data,", "Key: checkpointKey + e.ID, Value: []byte(\"0\"),"}}},
	{Name: "hand out before everybody has answered", By: &inStorms, Edits: []mutants.Edit{{"internal/protocol/tasks/adopt.go", "return !s.ready && !w.synced && !w.foreign && w.session < s.cfg.Epoch", "return false"}}},
	{Name: "an epoch is believed before its proof", By: &poisoned, Edits: []mutants.Edit{{"assign/gate.go", "\tus := g.addressee()\n", "\tif v.Epoch > g.highest {\n\t\tg.highest, g.epoch = v.Epoch, v.Epoch\n\t}\n\tus := g.addressee()\n"}}},
	{Name: "who leads in view goes back", By: &gated, Edits: []mutants.Edit{{"assign/gate.go", "if info.Revision < g.highest {", "if info.Revision == 0 {"}}},
	{Name: "a frame is believed whoever has signed it", By: &poisoned, Edits: []mutants.Edit{{"assign/gate.go", "g.trusting || g.verifier != nil", "true || g.verifier != nil"}}},
	{Name: "the outbox is dropped on a new epoch", By: &reported, Edits: []mutants.Edit{{"assign/outbox.go", "\tclear(o.flights)\n", "\tclear(o.flights)\n\tclear(o.findings)\n"}}},
	{Name: "reports to an earlier scheduler are heard", By: &heard, Edits: []mutants.Edit{{"assign/hear.go", "l.misdirected(err, epoch, own)", "l.misdirected(err, max(epoch, l.books.Term()), own)"}}},
	{Name: "reports to a later scheduler are heard", By: &heard, Edits: []mutants.Edit{{"assign/hear.go", "l.misdirected(err, epoch, own)", "l.misdirected(err, min(epoch, l.epoch), own)"}}},
	{Name: "what a worker has told an earlier scheduler counts", By: &synced, Edits: []mutants.Edit{{"assign/hear.go", "l.misdirected(err, epoch, from == session)", "l.misdirected(err, max(epoch, l.books.Term()), from == session)"}}},
	{Name: "what a worker has told a later scheduler counts", By: &synced, Edits: []mutants.Edit{{"assign/hear.go", "l.misdirected(err, epoch, from == session)", "l.misdirected(err, min(epoch, l.epoch), from == session)"}}},
	{Name: "what another session has told counts", By: &synced, Edits: []mutants.Edit{{"assign/hear.go", "l.misdirected(err, epoch, from == session)", "l.misdirected(err, epoch, from != 0)"}}},
	{Name: "the seal is no condition", By: &afterTakeover, Edits: []mutants.Edit{{"internal/natskv/write.go", "\texpect := op.Expect\n", "\tif op.Guard != nil && op.Guard.Key == \"seal\" {\n\t\treturn op.publish(at, reply, h)\n\t}\n\texpect := op.Expect\n"}}},
	{Name: "handlers outlive their session", By: &inStorms, Edits: []mutants.Edit{{"assign/execute.go", "\tx.lose(ErrSessionLost)\n", ""}}},
}}

func TestTasksMutants(t *testing.T)    { taskMutants.Run(t) }
func TestTasksMutantsFit(t *testing.T) { taskMutants.Fit(t) }
