package main

import (
	"slices"
	"strings"

	"github.com/rolemanager/rolemanager/bench/figures"
)

// compared is tables of the peers and of their stores: versions and settings, as they were
// measured.
func (s *source) compared() string {
	var about data // elections and tasks have stores in common
	for _, r := range s.peers.where(figures.About, "", "", "", -1) {
		if !slices.Contains(about, r) {
			about = append(about, r)
		}
	}
	if len(about.where("", "", "", "settings", -1)) == 0 {
		return "*Versions and settings were not recorded with these figures.*\n"
	}
	peers, stores := &table{}, &table{}
	about.describe(peers, "peer", "version", "settings")
	about.describe(stores, "store", "server", "store")
	return peers.String() + "\n" + stores.String()
}

// describe adds lines on all who have settings. Modes that follow each other and do not differ
// share one.
func (d data) describe(t *table, who, version, settings string) {
	t.row(who, "version", "mode", "settings")
	t.row(slices.Repeat([]string{"---"}, 4)...)
	for _, name := range d.where("", "", "", settings, -1).peers() {
		of := "this commit"
		if v := d.where("", name, "", version, -1); len(v) > 0 {
			of = v[0].Note
		}
		var modes []string
		all := d.where("", name, "", settings, -1)
		for i, r := range all {
			modes = append(modes, r.Mode)
			if i == len(all)-1 || all[i+1].Note != r.Note {
				t.row(name, of, strings.Join(modes, ", "), r.Note)
				modes = nil
			}
		}
	}
}
