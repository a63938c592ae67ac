package tasksim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// listed are the rules by which a listing leaves out nothing though the scheduler changes.
var listed = []mutants.Mutant{
	{Name: "a listing continues at the place of another scheduler", Edits: []mutants.Edit{
		{"if cursor != s.cursor(at) {", "if false {"},
	}},
	{Name: "a cursor of nobody is ours", Edits: []mutants.Edit{
		{"if cursor != s.cursor(at) {", "if cursor>>32 > 0 && cursor != s.cursor(at) {"},
	}},
	{Name: "a listing begins again when the epoch moves within a term", Edits: []mutants.Edit{
		{"return s.cfg.Epoch<<32 | uint64(at)", "return s.epoch<<32 | uint64(at)"},
	}},
}
