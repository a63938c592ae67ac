package explore

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// inUnique searches the configuration of a name.
func inUnique(name string) *mutants.Test { return in("^TestUnique$", name) }

// keyless is the configuration in which somebody submits a task without a key under the same id.
const keyless = "one id with and without a key"

// requeued is the one in which a dead task is submitted again, and tidied the rule by which a
// scheduler frees keys in it.
const (
	requeued = "submitted again"
	tidied   = "p.holds != submission && p.revision != k.at"
)

var uniqueMutants = []mutants.Mutant{
	{Name: "a task under way is not shut out", By: inUnique("two clients"), Edits: []mutants.Edit{
		{"f.next = Action{Do: Reserve, Task: f.key.Task, Expect: p.Revision}", "f.free()"},
	}},
	{Name: "an absent task has ended", By: inUnique("two clients"), Edits: []mutants.Edit{
		{"\tcase p.Holds == Nothing: // its", "\tcase p == Place{}:\n\t\tf.free()\n\tcase p.Holds == Nothing: // its"},
	}},
	{Name: "the key is taken before the place is reserved", By: inUnique("two clients"), Edits: []mutants.Edit{
		{
			"\t\ts.take()\n\tcase TakeKey:",
			"\t\tif s.held {\n\t\t\ts.do(Action{Do: Store, Task: s.task, Expect: revision})\n\t\t\treturn\n\t\t}\n" +
				"\t\ts.take()\n\tcase TakeKey:",
		},
		{"\ts.key, s.mine = k.Revision, 0\n", "\ts.key, s.mine, s.held = k.Revision, 0, true\n"},
		{"\teager bool // nothing was read so far\n", "\teager bool // nothing was read so far\n\theld  bool\n"},
	}},
	{Name: "an earlier life of a task is believed", By: inUnique(requeued), Edits: []mutants.Edit{
		{"case p.Revision <= f.key.At:", "case p.Holds > Ended:"},
	}},
	{Name: "the key of a task is freed that is about to come", By: inUnique("undisturbed"), Edits: []mutants.Edit{
		{tidied, tidied + " || p.holds == reservation"},
	}},
	{Name: "the key of a task is freed that is about to come again", By: inUnique(requeued), Edits: []mutants.Edit{
		{tidied, tidied + " || p.holds == outcome"},
	}},
	{Name: "a task that may come again is not shut out", By: inUnique(requeued), Edits: []mutants.Edit{
		{"f.next = Action{Do: Rewrite, Task: f.key.Task, Expect: p.Revision}", "f.free()"},
	}},
	{Name: "a submission is guarded by its key alone", By: inUnique(keyless), Edits: []mutants.Edit{
		{
			"\tcase stores, storesAgain, submitsPlain:\n\t\tif won = at.now.revision == w.expect; won {\n",
			"\tcase stores, storesAgain, submitsPlain:\n\t\tif won = w.kind == stores && key.now.at == w.expect || " +
				"w.kind != stores && at.now.revision == w.expect; won {\n",
		},
	}},
}
