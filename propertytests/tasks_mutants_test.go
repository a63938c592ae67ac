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
	inStorms = mutants.Test{
		Package: "propertytests/bubblestorms", Run: "^TestTasksStorms$", Args: []string{"-test.timeout", "3m"}, Says: foundBy,
	}
	foundBy = regexp.MustCompile(`(?:panic: |\w+_test\.go:\d+: )(?P<what>.*)`)
)

var taskMutants = mutants.Suite{Record: "mutants.csv", Mutants: []mutants.Mutant{
	{Name: "a tick is stored without its mark", By: &acrossFailovers, Edits: []mutants.Edit{{"assign/commits_records.go", "Key: tickKey + e.Recurrence.Name", "Key: tickKey + e.Recurrence.Name + \"-\""}}},
	{Name: "a checkpoint is stored as another one", By: &atEveryWrite, Edits: []mutants.Edit{{"assign/commits_records.go", "Key: checkpointKey + e.ID, Value: e.Data,", "Key: checkpointKey + e.ID, Value: []byte(\"0\"),"}}},
	{Name: "hand out before everybody has answered", By: &inStorms, Edits: []mutants.Edit{{"internal/protocol/tasks/adopt.go", "return !s.ready && !w.synced && !w.foreign && w.session < s.cfg.Epoch", "return false"}}},
	{Name: "an epoch is believed before its proof", By: &poisoned, Edits: []mutants.Edit{{"assign/gate.go", "\tcase v.Epoch > g.highest:\n", "\tcase v.Epoch > g.highest:\n\t\tg.highest, g.epoch = v.Epoch, v.Epoch\n"}}},
	{Name: "handlers outlive their session", By: &inStorms, Edits: []mutants.Edit{{"assign/execute.go", "\tx.lose(ErrSessionLost)\n", ""}}},
}}

func TestTasksMutants(t *testing.T)    { taskMutants.Run(t) }
func TestTasksMutantsFit(t *testing.T) { taskMutants.Fit(t) }
