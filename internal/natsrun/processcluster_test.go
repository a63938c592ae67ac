package natsrun_test

import (
	"os"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// TestProcessClusterThatDoesNotStart: a cluster that does not come up reports why, and leaves
// nothing behind.
func TestProcessClusterThatDoesNotStart(t *testing.T) {
	for why, start := range map[string]func() (*natsrun.ProcessCluster, error){
		"need a Dir": func() (*natsrun.ProcessCluster, error) {
			return natsrun.StartProcessCluster([]string{os.Args[0]}, natsrun.ClusterOptions{})
		},
		"has ended": func() (*natsrun.ProcessCluster, error) {
			return natsrun.StartProcessCluster([]string{"/bin/true"}, natsrun.ClusterOptions{Dir: t.TempDir()})
		},
	} {
		if c, err := start(); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("it started, or said %v, want %q", err, why)
			if c != nil {
				_ = c.Shutdown() // it should not be there
			}
		}
	}
}
