package electionsim

import "github.com/rolemanager/rolemanager/propertytests/campaign/mutants"

// inZones is the test of roles with zones.
var inZones = mutants.Test{
	Run: "^TestZones$", Args: []string{"-sim.schedules", "3000", "-test.timeout", "20m"}, Says: says,
}

// ranksZones is the tests of the order and of the history alone.
var ranksZones = mutants.Test{
	Below: []string{"internal/protocol/zone"}, Run: "^Test(Rank|RankOfAnyPriority|FailBacks|Present)$",
	Args: beside.Args, Says: beside.Says,
}

// asksZones is the tests of one machine with zones.
var asksZones = mutants.Test{
	Below: beside.Below, Args: beside.Args, Says: beside.Says,
	Run: "^Test(OlderMembersDoNotTakeTiersForPriorities|ZonesOnly|FailBackOnlyWhenAsked|FailBackIsCarriedOn|DrainedZone)$",
}

// spreadsInZones is the test of roles that are spread over members in several zones.
var spreadsInZones = mutants.Test{
	Run: "^TestZonesAndSpread$", Args: []string{"-sim.schedules", "3000", "-test.timeout", "20m"}, Says: says,
}

// silencesZones is the test of candidates that are silent when they are to get a role.
var silencesZones = mutants.Test{
	Run: "^TestZonesAfterSilence$", Args: []string{"-sim.schedules", "1200", "-test.timeout", "20m"}, Says: says,
}

// countsInZones is the test of what fills a member.
var countsInZones = mutants.Test{
	Below: beside.Below, Run: "^TestRolesOfAnEarlierSessionFillNobody$", Args: beside.Args, Says: beside.Says,
}

var zones = []mutants.Mutant{
	{Name: "roles of an earlier session fill a member", By: &countsInZones, Edits: []mutants.Edit{
		{"\t\tif ledBy(p, held) {\n\t\t\tled++\n", "\t\tif ledBy(p, held) || true {\n\t\t\tled++\n"},
	}},
	{Name: "roles of an earlier session are apart from others", By: &countsInZones, Edits: []mutants.Edit{
		{"return ledBy(p, held) &&", "return true &&"},
	}},
	{Name: "a better zone that was silent is not looked at again", By: &silencesZones, Edits: []mutants.Edit{
		{"return false, m.now.Observer.Add(m.cfg.TTL)", "return false, view.Never"},
	}},
	{Name: "balance goes to any zone", By: &spreadsInZones, Edits: []mutants.Edit{
		{"p.stay = !over", "p.stay = false"},
	}},
	{Name: "one that would decline is not looked at again", By: &spreadsInZones, Edits: []mutants.Edit{
		{"later = true // it may give the role away that keeps it from ours", "_ = later"},
	}},
	{Name: "zones have no order", By: &ranksZones, Edits: []mutants.Edit{
		{"return int32(len(zones) - i)", "return int32(1 + 0*i)"},
	}},
	{Name: "a priority outweighs a zone", By: &ranksZones, Edits: []mutants.Edit{
		{"max(int64(tier)<<tierBits+", "max(int64(tier)<<(tierBits-2)+"},
	}},
	{Name: "fail back at once", By: &inZones, Edits: []mutants.Edit{
		{"due = since.Add(backsOf(&r.Role).Wait(r.failBack))", "due = since.Add(0 * backsOf(&r.Role).Wait(r.failBack))"},
	}},
	{Name: "fail-backs are not damped", By: &inZones, Edits: []mutants.Edit{
		{"backsOf(&r.Role).Wait(r.failBack)", "r.failBack"},
	}},
	{Name: "fail-backs are not counted", By: &inZones, Edits: []mutants.Edit{
		{"\tcase h.Failed < math.MaxUint8:\n\t\th.Failed++\n", "\tcase h.Failed < math.MaxUint8:\n"},
	}},
	{Name: "a claim forgets fail-backs", By: &inZones, Edits: []mutants.Edit{
		{"r.claim.backs = m.failBacks(r, r.claim.handed)", "_ = m.failBacks"},
	}},
	{Name: "a leader that gives its role up forgets fail-backs", By: &inZones, Edits: []mutants.Edit{
		{"\tbacks := m.ownFailBacks(rv)\n", "\tbacks := backsOf(&record.Role{})\n"},
	}},
	{Name: "another one than was meant fails back", By: &inZones, Edits: []mutants.Edit{
		{"\tif meant {\n\t\treturn h\n\t}\n", "\tif meant || h.Back {\n\t\treturn h\n\t}\n"},
	}},
	{Name: "a takeover goes to any zone", By: &inZones, Edits: []mutants.Edit{
		{
			"\tcase said.Tier < r.tier:\n\t\treturn false, view.Never\n\tcase said.Tier == r.tier:\n",
			"\tcase said.Tier <= r.tier || said.TakesOver():\n",
		},
	}},
	{Name: "a candidate that was away counts as one that stayed", By: &ranksZones, Edits: []mutants.Edit{
		{"\t\tcase p.begun:\n\t\t\tthere[i].Since = now\n", ""},
	}},
	{Name: "older members take tiers for priorities", By: &asksZones, Edits: []mutants.Edit{
		{"Takeover: r.takeover && len(r.zones) == 0,", "Takeover: r.takeover,"},
	}},
	{Name: "zones that are the only ones bar nobody", By: &asksZones, Edits: []mutants.Edit{
		{"case r.zonesOnly && r.tier <= zone.Last, drained && own.Hard:", "case drained && own.Hard:"},
	}},
	{Name: "a drained zone leads as before", By: &asksZones, Edits: []mutants.Edit{
		{"\tcase r.tier == zone.Drained:\n\t\treturn true, view.Never\n", ""},
	}},
	{Name: "a drained zone gives all away at once", By: &asksZones, Edits: []mutants.Edit{
		{"if m.evacuating.giving != r && m.evacuating.under() {", "if m.evacuating.giving != r && false {"},
	}},
	{Name: "a drained zone does not say so", By: &asksZones, Edits: []mutants.Edit{
		{"if m.rankRole(r); r.rank != before {", "if m.rankRole(r); false && r.rank != before {"},
	}},
	{Name: "a paused role is led on", By: &inZones, Edits: []mutants.Edit{
		{"\t\tif r.barred != 0 {\n\t\t\tm.endTerm(r, r.barred, \"\")\n\t\t\treturn\n\t\t}\n", ""},
	}},
	{Name: "a drained zone is not eligible", By: &inZones, Edits: []mutants.Edit{
		{
			"case r.zonesOnly && r.tier <= zone.Last, drained && own.Hard:",
			"case r.zonesOnly && r.tier <= zone.Last, drained:",
		},
	}},
}
