package tasksim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// together are those of the rule by which writes go together. Its own tests notice.
var together = []mutants.Mutant{
	{Name: "batches always pay", Edits: []mutants.Edit{
		{"g.pace.each.low*time.Duration(n) > cost+cost/margin", "cost > 0"},
	}},
	{Name: "one record goes where a batch is to be measured", Edits: []mutants.Edit{
		{"if !g.cost.known(now) || g.dear > 0 {", "if !g.cost.known(now) {"},
	}},
	{Name: "several records go where a batch takes less time", Edits: []mutants.Edit{
		{"time.Duration(records) * g.ones.fixed.low", "g.ones.fixed.low"},
	}},
	{Name: "what one record took is known for ever", Edits: []mutants.Edit{
		{"if !g.ones.known(now) {", "if g.ones.at == 0 {"},
	}},
	{Name: "a batch holds as many large writes as small ones", Edits: []mutants.Edit{
		{"min(n, MostBytes/max(s.mean, 1), Most)", "min(n, Most)"},
	}},
	{Name: "the batch of the rest costs nothing", Edits: []mutants.Edit{{"if rest > 0 {", "if rest < 0 {"}}},
	{Name: "only those that wait make one record worth while", Edits: []mutants.Edit{
		{"waiting+g.lately.since(now.Add(-g.cost.of(now, 0)))", "waiting"},
	}},
	{Name: "what has ever gone as one record makes the next one worth while", Edits: []mutants.Edit{
		{"if s.at >= then {", "if s.at >= 0 {"},
	}},
	{Name: "those that wait go a few at a time, and measure nothing", Edits: []mutants.Edit{
		{"if g.held > 0 && most == math.MaxInt {", "if g.held > 0 {"},
	}},
	{Name: "batches that hardly pay go", Edits: []mutants.Edit{{"> cost+cost/margin", "> cost"}}},
	{Name: "the highest time of the last ones counts", Edits: []mutants.Edit{
		{"[len(s.list)/part]", "[len(s.list)-1]"},
	}},
	{Name: "one cheap batch outweighs slow ones for long", Edits: []mutants.Edit{{"|| took > slow {", "{"}}},
	{Name: "dear batches of long ago make the next ones rare", Edits: []mutants.Edit{
		{"if now >= c.at.Add(2*longMemory) {", "if false {"},
	}},
	{Name: "dear batches are tried as often as ever", Edits: []mutants.Edit{
		{"c.memory = min(2*max(c.memory, costMemory/2), longMemory)", "c.memory = 0"},
	}},
	{Name: "a store far away counts as slow", Edits: []mutants.Edit{
		{"float64(long/n)*(1-float64(n*way)/float64(x.took))", "float64(long/n)"},
	}},
	{Name: "the end of a burst says how fast a store is", Edits: []mutants.Edit{
		{"case f.count >= group && t.sent >= f.answered:", "case f.count >= group:"},
	}},
	{Name: "a few that go alone are not measured", Edits: []mutants.Edit{
		{"if left == 0 && p.busy.answered == 0 {", "if left < 0 {"},
	}},
	{Name: "a dear batch is never tried again", Edits: []mutants.Edit{
		{"return c.at != 0 && now < c.at.Add(max(c.memory, costMemory))", "return c.at != 0"},
	}},
	{Name: "one dear batch is enough to go alone", Edits: []mutants.Edit{
		{"g.dear < chance", "g.dear < 0"},
	}},
	{Name: "dear batches go for ever", Edits: []mutants.Edit{
		{"g.dear < chance", "g.dear >= 0"},
	}},
	{Name: "the pace is not measured again", Edits: []mutants.Edit{
		{"return p.at > 0 && now < p.at.Add(paceMemory)", "return p.at > 0"},
	}},
	{Name: "a batch goes beside writes that went alone", Edits: []mutants.Edit{
		{"case g.alone > 0 || g.together > 0:\n\t\treturn 0, false", "case g.together > 0:\n\t\treturn 0, false"},
	}},
	{Name: "nothing waits for those of the last batch", Edits: []mutants.Edit{
		{"case waiting < g.expected && now < g.until:", "case waiting < 1:"},
	}},
	{Name: "all go alone before the pace is known", Edits: []mutants.Edit{
		{"most := first\n", "most := Most\n"},
	}},
	{Name: "many go alone before the way is known", Edits: []mutants.Edit{
		{"if g.pace.way.least() == 0 {", "if false {"},
	}},
	{Name: "writes wait for the pace for ever", Edits: []mutants.Edit{
		{"now >= g.held.Add(hold)", "now >= g.held.Add(1000*hold)"},
	}},
	{Name: "those after a few wait without a bound", Edits: []mutants.Edit{
		{"case waiting > 0 && g.held == 0:", "case g.alone >= most && g.held == 0:"},
	}},
	{Name: "after batches all go, since some had waited", Edits: []mutants.Edit{
		{"if g.alone--; g.alone == 0 {", "if g.alone--; g.alone < 0 {"},
	}},
	{Name: "among a flow all go, since some had waited", Edits: []mutants.Edit{
		{"\t\tg.held = 0\n\t\treturn waiting\n", "\t\treturn waiting\n"},
	}},
	{Name: "writes that wait for the pace do not turn", Edits: []mutants.Edit{
		{"if waiting > 0 {\n\t\tg.turn(now, waiting)", "if waiting < 0 {\n\t\tg.turn(now, waiting)"},
	}},
	{Name: "those that have waited make a store seem slow", Edits: []mutants.Edit{{"\t\t\tg.pace.more()\n", ""}}},
	{Name: "refusals are forgotten", Edits: []mutants.Edit{
		{"return r.count > maxRefused", "return false"},
	}},
	{Name: "a batch follows one without an answer", Edits: []mutants.Edit{
		{"case Silent, NotTaken:\n\t\tg.barred = now.Add(quiet)", "case Silent, NotTaken:\n\t\tg.barred = now"},
	}},
	{Name: "one record of many says what a batch takes", Edits: []mutants.Edit{
		{"g.ones.took(now, 0, took)", "g.cost.took(now, n, took)"},
	}},
	{Name: "a few that never go alone wait for nothing", Edits: []mutants.Edit{
		{"now.Add(min(rest*took, calm))", "now"},
	}},
	{Name: "many go as one record when no batch is measured", Edits: []mutants.Edit{
		{"if !g.cost.known(now) || g.dear > 0 {", "if g.cost.at == 0 || g.dear > 0 {"},
	}},
}

var inPortions = []mutants.Mutant{
	{Name: "more inputs are kept than there is room for", Edits: []mutants.Edit{
		{"r.bytes+size+keptCost > r.most", "r.most == 0"},
	}},
	{Name: "an input stays when its task is submitted again, and there is no room", Edits: []mutants.Edit{
		{"r.Drop(task)\n\tvar head", "var head"},
	}},
	{Name: "a task gets the input of an earlier submission", Edits: []mutants.Edit{
		{"binary.LittleEndian.Uint64([]byte(text[:8])) != revision", "revision == 0"},
	}},
	{Name: "a frame that has not seen a portion says that it was wasted", Edits: []mutants.Edit{
		{"return w.Seen == r.portion && len(r.along) > Most/2", "return len(r.along) > Most/2"},
	}},
	{Name: "what is awaited when it comes was of no use", Edits: []mutants.Edit{
		{"s.taken += uint64(used)", "s.taken += 0 * uint64(used)"},
	}},
	{Name: "no portion is read ahead", Edits: []mutants.Edit{
		{"s.asked || s.inputs == 0 || len(s.last) > s.inputs/2", "s.inputs >= 0"},
	}},
	{Name: "a portion is read ahead though nothing of the last one is used", Edits: []mutants.Edit{
		{"s.asked || s.inputs == 0 || len(s.last) > s.inputs/2", "s.asked || s.inputs == 0"},
	}},
	{Name: "a portion is read ahead of one in which all tasks have ended", Edits: []mutants.Edit{
		{"s.asked || s.inputs == 0 || len(s.last)", "s.asked || len(s.last)"},
	}},
	{Name: "what a portion on its way has is read by itself", Edits: []mutants.Edit{
		{"w.Seen < r.portion && r.along[w.Revision], w.Seen+1", "w.Seen+1"},
	}},
	{Name: "what came and was given away is waited for", Edits: []mutants.Edit{
		{"case w.Seen < r.portion && r.along[w.Revision],", "case r.along[w.Revision],"},
	}},
	{Name: "what is missing in a portion is not read", Edits: []mutants.Edit{
		{"if !r.along[w.Revision] && w.Revision != last {", "if w.Revision == last {"},
	}},
	{Name: "the portion before the last one is forgotten", Edits: []mutants.Edit{
		{"s.before, s.last = s.last, rest", "s.before, s.last = nil, rest"},
	}},
	{Name: "a reading of no use continues", Edits: []mutants.Edit{
		{"(r.wasted(list[0]) || list[0].Revision >", "(list[0].Revision >"},
	}},
	{Name: "a reading continues however far the next input is", Edits: []mutants.Edit{
		{"|| list[0].Revision > r.at+Most*worthwhile", "|| list[0].Revision == 0"},
	}},
	{Name: "a reading that is forgotten continues", Edits: []mutants.Edit{
		{"case r.reading && now >= r.used.Add(idle):", "case r.reading && r.at == 0:"},
	}},
	{Name: "one reading follows another at once", Edits: []mutants.Edit{
		{"r.inRow() && now >= r.pause:", "r.inRow():"},
	}},
	{Name: "a single input begins a reading", Edits: []mutants.Edit{
		{"case !r.reading && r.inRow()", "case !r.reading"},
	}},
}
