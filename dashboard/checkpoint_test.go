package dashboard

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestCheckpoint: the screen of a task that runs has the epoch of its attempt and the size of its
// checkpoint, and what the checkpoint holds only if that is configured.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Server(t), func(nc *nats.Conn, o *Options) {
		c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: "jobs", StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		o.Tasks = []*assign.Client{c}
	})
	work(t, s.nc)
	if _, err := assign.Submit(t.Context(), s.h.options.Tasks[0], assign.NewKind[string, string]("keep"), "x",
		assign.WithID("k-1")); err != nil {
		t.Fatal(err)
	}
	size := fmt.Sprint(len("step 4"+hostile), " bytes")
	natstest.Eventually(t, "the checkpoint is stored", patience, func() (bool, string) {
		d := document[taskData](s, "/task.json?id=k-1")
		return d.Task.Epoch > 0 && d.Saved == size && d.Checkpoint == "", s.get("/task.json?id=k-1", http.StatusOK)
	})
	for path, want := range map[string]string{
		"/task?id=k-1": "<dt>Checkpoint</dt><dd>" + size, "/task.json?id=k-1": size,
	} {
		if body := s.get(path, http.StatusOK); !strings.Contains(body, want) || strings.Contains(body, "step 4") {
			t.Errorf("no %q, or the checkpoint itself, in\n%s", want, body)
		}
	}
	shown, err := New(Options{Observer: s.h.options.Observer, Tasks: s.h.options.Tasks, ShowPayloads: true})
	if err != nil {
		t.Fatal(err)
	}
	defer shown.Close()
	s.http.Config.Handler = shown
	body := s.get("/task?id=k-1", http.StatusOK)
	if !strings.Contains(body, "<h2>Checkpoint</h2><pre>step 4&lt;img") || !strings.Contains(body, "<dt>Epoch</dt><dd>") {
		t.Error(body)
	}
}
