package tasks

import (
	"context"

	"github.com/rolemanager/rolemanager/assign"
)

// A crowd is so many callers, each of which has so many tasks submitted, one after the other.
const (
	crowdCallers = 60
	crowdEach    = 5
)

// crowd has many tasks submitted at once, without ids: on a store that syncs, most of these go in
// bundles.
func (s *taskStorm) crowd(kind assign.Kind[Order, string]) {
	for range crowdCallers {
		var orders []Order
		var wishes []wish
		for range crowdEach {
			orders, wishes = append(orders, s.order()), append(wishes, s.wish())
		}
		s.workload.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 6*s.a.TTL)
			defer cancel()
			for i := range orders {
				if p := s.submitted(ctx, kind, orders[i]); p != nil {
					s.workload.Go(func() {
						ctx, cancel := context.WithTimeout(context.Background(), 6*s.a.TTL)
						defer cancel()
						s.follow(ctx, p, wishes[i])
					})
				}
			}
		})
	}
}
