package jobs

import (
	"context"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/bench/proc"
)

// meter measures the processor time of each process of a crew, and profiles it if there is a folder
// for that.
type meter struct {
	crew     *crew
	before   []used
	profiled bool
}

// used is the processor time of one process, or of all servers.
type used struct {
	who  string
	time time.Duration
}

// profiled is a process, or several, that can be profiled.
type profiled interface {
	Profile(ctx context.Context, file string) error
	Profiled(ctx context.Context) error
}

// meter begins to measure. The profiles have the name of the run before that of the process.
func (c *crew) meter(ctx context.Context, folder, name string) (*meter, error) {
	m := &meter{crew: c}
	if folder != "" {
		m.profiled = true
		file := func(who string) string { return filepath.Join(folder, name+"-"+who+".prof") }
		for who, p := range m.able() {
			if err := p.Profile(ctx, file(who)); err != nil {
				return nil, err
			}
		}
		if err := proc.Profile(file("client")); err != nil {
			return nil, err
		}
	}
	var err error
	m.before, err = m.used(ctx)
	return m, err
}

// able are the processes, besides this one, that can be profiled.
func (m *meter) able() map[string]profiled {
	all := map[string]profiled{}
	for name, w := range m.crew.workers {
		all[name] = w
	}
	if p, ok := m.crew.store.(profiled); ok {
		all["server"] = p
	}
	return all
}

// end is what was used since.
func (m *meter) end(ctx context.Context) ([]used, error) {
	all, err := m.used(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].time -= m.before[i].time
	}
	if m.profiled {
		pprof.StopCPUProfile()
		for _, p := range m.able() {
			if err := p.Profiled(ctx); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// used is what each process has used so far: the client's, which is this one, the servers', and
// that of each worker. That of a server whose time is not known is left out.
func (m *meter) used(ctx context.Context) (all []used, err error) {
	client, err := proc.Used()
	if err != nil {
		return nil, err
	}
	all = append(all, used{"client", client.CPU})
	if d, err := m.crew.store.CPU(ctx); err == nil {
		all = append(all, used{"server", d})
	}
	names := make([]string, 0, len(m.crew.workers))
	for name := range m.crew.workers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		d, err := m.crew.workers[name].CPU(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, used{name, d})
	}
	return all, nil
}
