package electionsim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestTranscripts plays small stories without noise and compares what the machines did, line by
// line. With -rewrite the files are written again; read them as an introduction to the rules.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := playedStory{t: t, plan: Plan{Roles: 1}}
		datadriven.RunTest(t, path, s.run)
	})
}

type playedStory struct {
	t    *testing.T
	plan Plan
	w    *world
	told int
}

func (s *playedStory) run(t *testing.T, d *datadriven.TestData) string {
	if s.w == nil {
		s.w = newWorld(&s.plan)
	}
	var name string
	if len(d.CmdArgs) > 0 {
		name = d.CmdArgs[0].Key
	}
	for i, p := range s.w.members {
		if p.instance == name && d.Cmd != "start" {
			return s.does(d, i, p)
		}
	}
	switch d.Cmd {
	case "start":
		m := MemberPlan{TTL: 1000 * time.Millisecond, Priorities: []int{0}, Takeover: d.HasArg("takeover")}
		d.MaybeScanArgs(t, "priority", &m.Priorities[0])
		s.w.newProcess(len(s.w.members), name, &m).start()
		return ""
	case "pass":
		span, err := time.ParseDuration(name)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		s.w.runUntil(s.w.now + span)
		if s.w.violated != nil {
			d.Fatalf(t, "%v", s.w.violated)
		}
		return s.tell()
	}
	d.Fatalf(t, "no such command or member")
	return ""
}

func (s *playedStory) does(d *datadriven.TestData, i int, p *process) string {
	w := s.w
	switch d.Cmd {
	case "crash":
		p.stop()
	case "pause":
		p.suffer(Fault{Kind: Pause, For: 1500 * time.Millisecond}, "r0")
	case "close":
		p.hand(protocol.Close{Timeout: 5 * time.Second})
	case "step-down":
		p.hand(protocol.StepDown{ID: w.command(p, func(protocol.Done) {}), Role: "r0"})
	case "evict":
		w.evictAt("r0")()
	case "blind":
		p.suffer(Fault{Kind: Blind, Who: i, For: 3 * time.Second}, "r0")
	case "lose-replies": // all of them, until the member is told otherwise
		p.deaf = true
	case "hear-replies":
		p.deaf = false
	default:
		d.Fatalf(s.t, "no such command")
	}
	return ""
}

// tell is what has happened since the last telling, without heartbeats and the watch.
func (s *playedStory) tell() string {
	var b strings.Builder
	for ; s.told < len(s.w.trace.lines); s.told++ {
		l := s.w.trace.lines[s.told]
		text := show(l.what)
		switch x := l.what.(type) {
		case protocol.Write:
			if x.Key != "c.role.r0" && !strings.Contains(string(x.Value), "killed") &&
				!strings.Contains(string(x.Value), "closed") {
				continue
			}
		case protocol.Opened, protocol.Lost, protocol.BeginTerm, protocol.EndTerm, protocol.Ask, protocol.Answered,
			protocol.PeerKilled, protocol.RoleGiven, protocol.Drained, protocol.Ended:
			text = strings.TrimPrefix(text, "protocol.")
		case protocol.Written:
			if x.Outcome == record.Won {
				continue
			}
			text = fmt.Sprintf("write #%d is %v", x.ID, x.Outcome)
		case *commit:
			if l.what.(*commit).key != "c.role.r0" {
				continue
			}
		default:
			continue
		}
		who := "store"
		if l.p != nil {
			who = l.p.instance
		}
		fmt.Fprintf(&b, "%7s %-5s %s\n", l.at.Round(10*time.Millisecond), who, text)
	}
	return b.String()
}
