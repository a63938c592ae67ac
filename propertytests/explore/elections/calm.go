package elections

import (
	"slices"

	"github.com/rolemanager/rolemanager/propertytests/explore/search"
)

// calm lets so many units pass in which nothing goes wrong, everything in the order in which it is listed.
func (x *Model) calm(w World, units int) World {
	for steps := 0; units > 0; steps++ {
		moves := slices.DeleteFunc(x.Moves(w, nil), func(m search.Move) bool {
			v, _, _ := parts(m)
			return v == joins || v == again // late
		})
		v, _, _ := parts(moves[0])
		if v == passes {
			units--
		}
		if v > passes || steps > 100_000 {
			panic("elections: the world does not come to rest")
		}
		next, err := x.Do(w, moves[0])
		if err != nil {
			panic("elections: " + err.Error() + " though nothing has gone wrong")
		}
		w = next
	}
	return w
}
