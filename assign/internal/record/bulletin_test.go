package record

import (
	"testing"

	"github.com/nats-io/nuid"
)

func TestTheTasksOfAClientHaveOneAudience(t *testing.T) {
	client := nuid.Next()
	for task, want := range map[string]string{
		client + ".1": client, client + ".zz": client, client: client, client + "x.1": client + "x.1",
		client[1:] + ".1":        client[1:] + ".1",
		client + ".1.zz":         client,
		client + ".1.2.3":        client + ".1.2.3",
		"a." + client[3:] + ".1": "a." + client[3:] + ".1", "order.17": "order.17", "x": "x",
	} {
		if got := Audience(task); got != want {
			t.Errorf("%s is announced to %s, want %s", task, got, want)
		}
	}
}
