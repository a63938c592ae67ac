package jobs

import (
	"slices"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/peers/elect"
	"github.com/rolemanager/rolemanager/bench/peers/queue"
	"github.com/rolemanager/rolemanager/bench/peers/stores"
)

// About notes versions and settings of the peers that do a job that is chosen, and of their stores.
func (r *Run) About(chosen func(job, peer string) bool) {
	var noted []figures.Row
	note := func(who, mode, figure, text string) {
		row := figures.Row{Job: figures.About, Peer: who, Mode: mode, Figure: figure, Note: text}
		if slices.Contains(noted, row) {
			return
		}
		noted = append(noted, row)
		if err := r.Sheet.Add(row); err != nil {
			r.Log("%v", err)
		}
	}
	version := func(peer, module string) {
		if module != "" {
			note(peer, "", "version", figures.Version(module))
		}
	}
	store := func(kind string, synced bool) {
		d := stores.Describe(kind, synced)
		note(kind, "", "server", d.Version)
		note(kind, mode(synced), "store", d.Settings)
	}
	for _, p := range elect.Guarded {
		does := func(j Election) bool { return chosen(j.Name, p.Name) }
		if !p.Locks && slices.ContainsFunc(slices.Concat(Elections, Synced), does) || slices.ContainsFunc(Guards, does) {
			version(p.Name, p.Module)
			store(p.Store, slices.ContainsFunc(Synced, does))
			for _, ttl := range ttls(p) {
				note(p.Name, "TTL "+ttl.String(), "settings", p.Settings(ttl))
			}
		}
	}
	for _, p := range queue.Peers {
		if slices.ContainsFunc(slices.Concat(Tasks, Reruns), func(j Task) bool { return chosen(j.Name, p.Name) }) {
			version(p.Name, p.Module)
			store(p.Store, false)
			store(p.Store, true)
			for _, m := range []struct {
				name string
				c    queue.Config
			}{{"defaults", queue.Config{}}, {"tuned", queue.Config{Tuned: true}}, {"impatient", queue.Config{Impatient: true}}} {
				note(p.Name, m.name, "settings", p.Settings(m.c))
			}
		}
	}
}
