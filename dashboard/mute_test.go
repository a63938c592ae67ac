package dashboard

import (
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
)

// TestMuteScheduler: while the last scheduler holds its role and does not answer, nobody is told to
// start another one.
func TestMuteScheduler(t *testing.T) {
	t.Parallel()
	info := election.RoleInfo{
		Role: "scheduler", Leader: "a", Epoch: 7, Successor: "b", State: election.RoleLeading, TTL: 10 * time.Second,
		LastSeen: 4 * time.Second,
	}
	for epoch, says := range map[uint64]string{7: "it holds the role until its lease ends", 6: "there is no scheduler"} {
		p := &picture{tasks: []namespaceNow{
			{Name: "jobs", Problem: "there is no scheduler", last: findings.Seal{Epoch: epoch, Holder: "a"}},
		}}
		var told []string
		for _, f := range judge(p, []findings.RoleFacts{findings.FactsOf(info)}, nil) {
			if f.Check == "tasks" {
				told = append(told, f.Message)
			}
		}
		if len(told) != 1 || !strings.Contains(told[0], says) {
			t.Errorf("the last one led at epoch %d: %q", epoch, told)
		}
	}
}
