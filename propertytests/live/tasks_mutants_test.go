package live_test

import (
	"regexp"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/campaign/mutants"
)

// These are the tests that mutants of the driver of tasks are run against. Some rules matter here
// too rarely, such as that of a late result that comes just while the next attempt runs. The
// simulation of the rules has mutants of these.
var (
	atEveryWrite = driverTest("^TestTasksSchedulerLostAtEveryWrite$")
	// reading missed ticks again helps only while outcomes are kept
	acrossFailovers = driverTest("^TestTicksAcrossFailovers$")
	poisoned        = driverTest("^Test(FutureEpochFrame|ForgedFrame)$")
	sharing         = driverTest("^TestSharedKeys$")
	fewSignatures   = driverTest("^TestFewSignatures$")
	gated           = driverTest("^TestGate$")
	reported        = driverTest("^TestAgain$")
	heard           = driverTest("^TestReportsToAnotherSchedulerAreNotHeard$")
	synced          = driverTest("^TestAnswersToAnotherSchedulerCountForNothing$")
	panicking       = driverTest("^TestAPanicOfTheLoop$")
	panicsBeside    = driverTest("^TestAPanicOfThe(Codec|SchedulersLoop)$")
	afterTakeover   = driverTest("^TestDeposedSchedulersWritesAreRefused$")
	inStorms        = driverTest("^TestTasksStorms$")
)

// hanging is the test of a connection that hangs while a lease ends. Storms meet that rarely.
var hanging = &mutants.Test{
	Below: []string{"assign"}, Run: "^TestHandlersEndWithTheLeaseThoughTheConnectionHangs$",
	Args: []string{"-test.timeout", "3m"}, Says: driverTest("").Says,
}

// These are the tests that mutants of a bucket's identity are run against.
var (
	otherServer = &mutants.Test{
		Below: []string{"internal/natskv"}, Run: "^TestAWriterDoesNotWriteToANamesake$",
		Args: []string{"-test.timeout", "3m"}, Says: driverTest("").Says,
	}
	otherWatch = &mutants.Test{
		Below: []string{"election"}, Run: "^Test(NothingIsHeardOfAnotherBucket|NoDomain)$",
		Args: []string{"-test.timeout", "3m"}, Says: driverTest("").Says,
	}
	adopted = &mutants.Test{
		Below: []string{"internal/natskv"}, Run: "^TestA(LatePurge|SlowMark)$",
		Args: []string{"-test.timeout", "3m"}, Says: driverTest("").Says,
	}
	allEnded = &mutants.Test{
		Below: []string{"internal/adoption"}, Run: "^TestEverySessionHasEnded$",
		Args: []string{"-test.timeout", "3m"}, Says: driverTest("").Says,
	}
	reachedStream = &mutants.Test{
		Below: []string{"internal/natskv"}, Run: "^TestAStreamIs(Reached|NotTakenForANamesake)$",
		Args: []string{"-test.timeout", "3m"}, Says: driverTest("").Says,
	}
	refusedBatches = &mutants.Test{
		Below: []string{"assign"}, Run: "^TestRefusedBatchOfSubmissions$",
		Args: []string{"-test.timeout", "3m"}, Says: driverTest("").Says,
	}
	silentBatches = &mutants.Test{
		Below: []string{"assign"}, Run: "^TestBatchesWithoutAnAnswer$",
		Args: []string{"-test.timeout", "3m"}, Says: driverTest("").Says,
	}
	tiedTerms = &mutants.Test{
		Below: []string{"election"}, Run: "^TestWhile", Args: []string{"-test.timeout", "3m"}, Says: driverTest("").Says,
	}
	wiped        = driverTest("^TestWorkerWithoutRecordsReruns$")
	severalSites = driverTest("^TestEachSubmissionRunsOnceInItsDomain$")
)

func driverTest(run string) *mutants.Test {
	return &mutants.Test{
		Below: []string{"assign", "propertytests"}, Run: run, Args: []string{"-test.timeout", "3m"},
		Says: regexp.MustCompile(`(?:panic: |\w+_test\.go:\d+: )(?P<what>.*)`),
	}
}

var taskMutants = mutants.Suite{
	Below: []string{"assign", "election", "fencing", "internal"}, Record: "mutants.csv",
	Mutants: []mutants.Mutant{
		{
			Name: "a term is valid though the one that it depends on is not", By: tiedTerms,
			Edits: []mutants.Edit{{" && (t.under == nil || t.under.Valid())", ""}},
		},
		{
			Name: "another session is not told of the deadline", By: tiedTerms,
			Edits: []mutants.Edit{{"term, until = t.id, t.until()", "term, until = t.id, record.Instant(1<<62)"}},
		},
		{
			Name: "a tick is stored without its mark", By: acrossFailovers,
			Edits: []mutants.Edit{{
				"Key: record.TickKey + e.Recurrence.Name",
				"Key: record.TickKey + e.Recurrence.Name + \"-\"",
			}},
		},
		{
			Name: "a checkpoint is stored as another one", By: atEveryWrite,
			Edits: []mutants.Edit{{
				"Key: record.CheckpointKey + e.ID, Value: e.Data,",
				"Key: record.CheckpointKey + e.ID, Value: []byte(\"0\"),",
			}},
		},
		{
			Name: "hand out before everybody has answered", By: inStorms,
			Edits: []mutants.Edit{{"return !s.ready && !w.synced && !w.foreign && w.session < s.cfg.Epoch", "return false"}},
		},
		{
			Name: "an epoch is believed before its proof", By: poisoned,
			Edits: []mutants.Edit{{
				"\tus := g.addressee()\n",
				"\tif v.Epoch > g.highest {\n\t\tg.highest, g.epoch = v.Epoch, v.Epoch\n\t}\n\tus := g.addressee()\n",
			}},
		},
		{
			Name: "the leader in view goes back", By: gated,
			Edits: []mutants.Edit{{"if info.Revision < g.highest {", "if info.Revision == 0 {"}},
		},
		{
			Name: "a frame is believed with any signature", By: poisoned,
			Edits: []mutants.Edit{{"return g.trusting ||", "return true ||"}},
		},
		{
			Name: "a worker shares a key with the leader before", By: sharing,
			Edits: []mutants.Edit{{"\t\tg.shared.Forget()\n", ""}},
		},
		{
			Name: "a worker names no key in its answers", By: fewSignatures,
			Edits: []mutants.Edit{{"f.m.Reply, v.Number, s.verifier.shared.Believed(&v)}", "f.m.Reply, v.Number, \"\"}"}},
		},
		{
			Name: "the outbox is dropped on a new epoch", By: reported,
			Edits: []mutants.Edit{{"\tclear(o.flights)\n", "\tclear(o.flights)\n\tclear(o.findings)\n"}},
		},
		{
			Name: "reports to an earlier scheduler are heard", By: heard,
			Edits: []mutants.Edit{{"r.misdirected(err, epoch, own)", "r.misdirected(err, max(epoch, r.rules.Term()), own)"}},
		},
		{
			Name: "reports to a later scheduler are heard", By: heard,
			Edits: []mutants.Edit{{"r.misdirected(err, epoch, own)", "r.misdirected(err, min(epoch, r.epoch), own)"}},
		},
		{
			Name: "what a worker has told an earlier scheduler counts", By: synced,
			Edits: []mutants.Edit{{
				"a.misdirected(err, x.Epoch, x.Session == session)",
				"a.misdirected(err, max(x.Epoch, a.rules.Term()), x.Session == session)",
			}},
		},
		{
			Name: "what a worker has told a later scheduler counts", By: synced,
			Edits: []mutants.Edit{{
				"a.misdirected(err, x.Epoch, x.Session == session)",
				"a.misdirected(err, min(x.Epoch, a.epoch), x.Session == session)",
			}},
		},
		{
			Name: "what another session has told counts", By: synced,
			Edits: []mutants.Edit{{
				"a.misdirected(err, x.Epoch, x.Session == session)", "a.misdirected(err, x.Epoch, x.Session != 0)",
			}},
		},
		{
			Name: "writes have no seal as a condition", By: afterTakeover,
			Edits: []mutants.Edit{{
				"\texpect := op.Expect\n",
				"\tif op.Guard != nil && op.Guard.Key == \"seal\" {\n\t\treturn\n\t}\n" +
					"\texpect := op.Expect\n",
			}},
		},
		{
			Name: "a task waits for no other", By: inStorms,
			Edits: []mutants.Edit{{
				"\tif e.After != nil {\n\t\ts.block", "\tif e.After != nil && e.Policy == nil {\n\t\ts.block",
			}},
		},
		{
			Name: "handlers outlive their session", By: hanging,
			Edits: []mutants.Edit{{"\tx.lose(taskerr.ErrSessionLost)\n", ""}},
		},
		{
			Name: "a new connection is not asked which bucket it leads to", By: otherServer,
			Edits: []mutants.Edit{{"case a.read && a.on.Load() == on:", "case a.read:"}},
		},
		{
			Name: "a watch of another bucket is heard", By: otherWatch,
			Edits: []mutants.Edit{{"!b.identity.Same(found) {", "found == (Identity{}) {"}},
		},
		{
			Name: "a record is published without its domain", By: reachedStream,
			Edits: []mutants.Edit{{"return at.reach.Publish(at.prefix + op.Key)", "return at.prefix + op.Key"}},
		},
		{
			Name: "a new connection is not asked which stream it leads to", By: reachedStream,
			Edits: []mutants.Edit{{"if nc == s.nc && s.sure.Load() == on+1 {", "if nc == s.nc {"}},
		},
		{
			Name: "a watch of another stream is heard", By: reachedStream,
			Edits: []mutants.Edit{{
				"if err = s.Identify(ctx, nc); err == nil && connection(nc) != on {",
				"if connection(nc) != on {",
			}},
		},
		{
			Name: "messages of tasks do not say whom they mean", By: severalSites,
			Edits: []mutants.Edit{{
				"SaidPrefix + namespace + \".\" + id + \".\"",
				"SaidPrefix + namespace + \".\" + id[:0] + \"x.\"",
			}},
		},
		{
			Name: "the floor of an adoption is not above the former one", By: adopted,
			Edits: []mutants.Edit{{
				"(silent+wait).Microseconds()), former+1)", "(silent+wait).Microseconds()), min(former, 1))",
			}},
		},
		{
			Name: "an adoption revokes no lease", By: allEnded,
			Edits: []mutants.Edit{{
				"l.Form == record.FormRecord && l.Lease.Alive()", "l.Form == record.FormRecord && l.Lease.V < 0",
			}},
		},
		{
			Name: "an adoption waits for no session", By: allEnded,
			Edits: []mutants.Edit{{"case <-time.After(wait):\n", "case <-time.After(0 * wait):\n"}},
		},
		{
			Name: "a bucket is marked however long that takes", By: adopted,
			Edits: []mutants.Edit{{"if time.Since(begun) > longestTTL(&info.StreamInfo)/2 {", "if begun.IsZero() {"}},
		},
		{
			Name: "a refused batch of submissions is taken as stored", By: refusedBatches,
			Edits: []mutants.Edit{{
				"now, fate := in.now(), stream.FateOf(&r)",
				"if r.Outcome == natskv.Refused {\n\t\tr.Outcome = natskv.Won\n\t}\n\tnow, fate := in.now(), stream.FateOf(&r)",
			}},
		},
		{
			Name: "a batch without an answer is sent again", By: silentBatches,
			Edits: []mutants.Edit{{
				"b.result.Outcome == natskv.Unknown && b.result.NoneStored &&",
				"b.result.Outcome == natskv.Unknown &&",
			}},
		},
		{
			Name: "a session in the state of which nothing is left is not ended", By: wiped,
			Edits: []mutants.Edit{{"case !m.awaited[session]:", "case false:"}},
		},
		{
			Name: "a worker whose loop has panicked keeps its session", By: panicking,
			Edits: []mutants.Edit{{"\t\ts.h.End(\"the worker's loop has panicked\")\n", ""}},
		},
		{
			Name: "a worker rests no longer after each panic", By: panicking,
			Edits: []mutants.Edit{{"min(firstPause<<min(r.panics, 16), longestPause)", "firstPause"}},
		},
		{
			Name: "a panic outside the handler is not caught", By: panicsBeside,
			Edits: []mutants.Edit{{
				"if v := recover(); v != nil { // of the handler, the codec,",
				"if v := any(nil); v != nil { // of the handler, the codec,",
			}},
		},
		{
			Name: "a term that panics leaves its parts behind", By: panicsBeside,
			Edits: []mutants.Edit{{
				"\tdefer s.end()\n\terr := s.begin(ctx)",
				"\tended := false\n\tdefer func() {\n\t\tif ended {\n\t\t\ts.end()\n\t\t}\n\t}()\n\terr := s.begin(ctx)",
			}, {"\t\ts.announceLast()\n\t}\n\treturn err", "\t\ts.announceLast()\n\t}\n\tended = true\n\treturn err"}},
		},
		{
			Name: "a missing bucket is created in whichever domain answers", By: otherWatch,
			Edits: []mutants.Edit{{
				"\tif domain != \"\" {\n\t\treturn &NoDomain",
				"\tif domain == \"none\" {\n\t\treturn &NoDomain",
			}},
		},
	},
}

func TestTasksMutants(t *testing.T)    { taskMutants.Run(t) }
func TestTasksMutantsFit(t *testing.T) { taskMutants.Fit(t) }
