package metrics_test

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/metrics"
)

// A manager calls Observe by itself when the Metrics is one of its sinks; here it is done by hand.
func ExampleNew() {
	reg := prometheus.NewRegistry()
	m, err := metrics.New(reg)
	if err != nil {
		fmt.Println(err)
		return
	}

	meta := event.Meta{Time: time.Now(), Bucket: "roles", Instance: "node-1"}
	m.Observe(event.RolePromoted{Meta: meta, Role: "scheduler", Epoch: 42})

	families, err := reg.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range families {
		if f.GetName() == "election_is_leader" || f.GetName() == "election_epoch" {
			fmt.Println(f.GetName(), f.GetMetric()[0].GetGauge().GetValue())
		}
	}
	// Output:
	// election_epoch 42
	// election_is_leader 1
}
