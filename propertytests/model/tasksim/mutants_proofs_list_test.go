package tasksim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// proofs are those of what proves a frame. The tests beside the rule notice.
var proofs = []mutants.Mutant{
	{Name: "a frame goes under the shared key though the last one was not answered", Edits: []mutants.Edit{
		{" || s.unanswered > 0", ""},
	}},
	{Name: "the answer to any frame is one to the last", Edits: []mutants.Edit{
		{"if number >= s.unanswered {", "if number != 0 {"},
	}},
	{Name: "after one lost frame all are signed", Edits: []mutants.Edit{
		{"if number >= s.unanswered {", "if number == s.unanswered {"},
	}},
	{Name: "a key is shared for one frame", Edits: []mutants.Edit{{"s.signed < worthSharing", "s.signed < 1"}}},
	{Name: "each answer after a false one is reported", Edits: []mutants.Edit{
		{"public == s.public || s.signAll:", "public == s.public:"},
	}},
	{Name: "frames without a number go under the shared key", Edits: []mutants.Edit{{" || v.Number == 0 {", " {"}}},
	{Name: "a session may have two keys", Edits: []mutants.Edit{
		{"\ts.signAll = true\n\treturn false\n", "\ts.public = public\n\treturn false\n"},
	}},
	{Name: "a key that is nobody's is tried", Edits: []mutants.Edit{
		{"if s.signAll = s.key == nil; !s.signAll {", "{"},
	}},
	{Name: "nothing is forgotten of a session that is dead", Edits: []mutants.Edit{{"delete(p.workers, session)", ""}}},
	{Name: "the key of a former leader stays", Edits: []mutants.Edit{
		{"func (b *Believer) Forget() { b.public, b.key = \"\", nil }", "func (b *Believer) Forget() {}"},
	}},
	{Name: "the key of a former term stays", Edits: []mutants.Edit{{"if v.Key != b.public {", "if b.public == \"\" {"}}},
	{Name: "no key proves what anybody can make", Edits: []mutants.Edit{{"k != nil && hmac.Equal", "hmac.Equal"}}},
	{Name: "the worker's frames have the scheduler's proofs", Edits: []mutants.Edit{
		{"\"rolemanager frame key v1\\x00\"+both", "\"rolemanager frame key v1\\x00\""},
	}},
	{Name: "a signed frame is without a key", Edits: []mutants.Edit{{"v.Key = p.pair.public", "v.Key = \"\""}}},
	{Name: "a number in a frame has several forms", Edits: []mutants.Edit{{"size > 1 && b[size-1] != 0", "size > 1"}}},
}
