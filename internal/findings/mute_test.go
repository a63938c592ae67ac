package findings

import (
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
)

// TestMute: a scheduler that has crashed holds its role until its lease ends. While that may be so
// nobody is told to start another one, if one is in line.
func TestMute(t *testing.T) {
	t.Parallel()
	const (
		ttl   = 10 * time.Second
		says  = "ns: a leads jobs, and does not answer questions about tasks"
		until = "it holds the role until its lease ends, in "
	)
	for _, c := range []struct {
		successor string
		age       time.Duration
		level     Level
		says, fix string
	}{
		{"b", time.Second, Critical, "; if it has crashed, " + until + "10s at most", "log of a"},
		{"b", 4200 * time.Millisecond, Warning, "silent for 4.2s, " + until + "6s at most", "again in 6s"},
		{"", 4200 * time.Millisecond, Warning, until + "6s at most", "start a process that contends for jobs"},
		{"b", 12 * time.Second, Critical, "silent for 12s, and nobody has taken the role over", "start a process"},
		{"b", -1, Critical, "and its lease is gone", "start a process that contends for jobs"},
	} {
		f := RoleFacts{
			Info: election.RoleInfo{Role: "jobs", Leader: "a", Successor: c.successor, State: election.RoleLeading},
			TTL:  ttl, HeartbeatAge: c.age,
		}
		var l List
		l.Mute("ns", &f)
		x := l[0]
		if x.Level != c.level || !strings.HasPrefix(x.Message, says) || !strings.Contains(x.Message, c.says) ||
			!strings.Contains(x.Fix, c.fix) {
			t.Errorf("%v after its last beat: %+v", c.age, l)
		}
	}
}
