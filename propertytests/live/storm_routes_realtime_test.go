//go:build realtime

package live_test

import (
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// entering has each client begin at another server than the one before it. Later it goes wherever
// it finds one.
type entering struct {
	*natsrun.Cluster
	clients int
}

func (e *entering) Connect(opts ...nats.Option) (*nats.Conn, error) {
	var urls []string
	for i := range e.Size() {
		urls = append(urls, e.URL((e.clients+i)%e.Size()))
	}
	e.clients++
	return nats.Connect(strings.Join(urls, ","), append(opts, nats.DontRandomize())...)
}

// stormRoutes are the faults between servers, several of which may be on one route. A way is from
// one server to another.
type stormRoutes struct {
	c          *natsrun.Cluster
	lost, held map[[2]int]int // how many faults have a way lose or hold what it carries
	imposed    map[[2]int]routeFault
}

func newStormRoutes(c *natsrun.Cluster) *stormRoutes {
	return &stormRoutes{c: c, imposed: map[[2]int]routeFault{}, lost: map[[2]int]int{}, held: map[[2]int]int{}}
}

// routeFault is what a proxy does.
type routeFault struct{ cut, hold natsrun.Direction }

// add puts one more fault of a kind on some ways, and returns what takes it away.
func (r *stormRoutes) add(kind map[[2]int]int, ways ...[2]int) (end func()) {
	change := func(n int) {
		for _, way := range ways {
			kind[way] += n
		}
		r.impose()
	}
	change(1)
	return func() { change(-1) }
}

// impose puts on each route what its two ways are to do.
func (r *stormRoutes) impose() {
	for i := range r.c.Size() {
		for j := range r.c.Size() {
			if i == j {
				continue
			}
			there, back := [2]int{i, j}, [2]int{j, i}
			want := routeFault{directions(r.lost, there, back), directions(r.held, there, back)}
			if want == r.imposed[there] {
				continue
			}
			r.imposed[there] = want
			p := r.c.Route(i, j)
			p.Heal()
			if want.hold != 0 {
				p.Hold(want.hold)
			}
			if want.cut != 0 {
				p.CutOneWay(want.cut)
			}
		}
	}
}

// directions are those of a proxy in which a kind of fault is on.
func directions(kind map[[2]int]int, there, back [2]int) (d natsrun.Direction) {
	if kind[there] > 0 {
		d |= natsrun.ToServer
	}
	if kind[back] > 0 {
		d |= natsrun.ToClient
	}
	return d
}
