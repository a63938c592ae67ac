package natskv

import (
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestReplicasWithoutACluster: the refusal says what to do about it.
func TestReplicasWithoutACluster(t *testing.T) {
	nc := natstest.Connect(t, natstest.Server(t))
	_, err := Create(t.Context(), nc, Config{Bucket: "b", Replicas: 3})
	if err == nil || !strings.Contains(err.Error(), "set Replicas to 1, or connect to a cluster") {
		t.Errorf("%v", err)
	}
}
