package roles

import (
	"context"
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/rolemanager/rolemanager/election"
)

// Shards are the n roles of a group of that name, for [New] and [Manager.Add]: orders-00 to
// orders-63 for 64 shards of "orders". They are spread over the processes that add them, and lead
// is called with the number of the shard, from 0, and its term. Each shard has an epoch of its own,
// which fences what its leader writes.
//
// The first process that adds the group records n in the bucket. A process that adds it with
// another n is refused with [ErrShardCount]: two numbers would send one key to two shards. [New]
// and Add refuse an n that is below 1, or above 100,000. Adding a group while the manager runs asks
// the bucket, and waits for the answer.
//
// So n is final. Nothing could change it safely: while processes with the old number and with the
// new one run, a key would be in a shard of each, with epochs that do not fence each other. Choose
// several times the largest number of processes. To have more later, use another name for the
// group, and move the work over: see the guide "Sharding".
//
// Set further fields on the returned roles, such as Health or Priority. The permission is to
// publish to $KV.<bucket>.shards.<name>.
func Shards(name string, n int, lead func(ctx context.Context, shard int, t *election.Term) error) []Role {
	roles := make([]Role, 1) // to say so, if n is refused
	if n > 1 && n <= maxShards {
		roles = make([]Role, n)
	}
	width := len(strconv.Itoa(max(n-1, 0)))
	for shard := range roles {
		r := Role{
			Name: fmt.Sprintf("%s-%0*d", name, width, shard), Spread: true, Group: name, shards: n, sharded: true,
		}
		if lead != nil {
			r.Lead = func(ctx context.Context, t *election.Term) error { return lead(ctx, shard, t) }
		}
		roles[shard] = r
	}
	return roles
}

// ShardOf is the shard of a key, from 0 to n-1, in the group that [Shards] makes of the same name
// and n. All processes and versions agree on it. It is the jump consistent hash (Lamping and Veach
// 2014) of the FNV-1a hash of key, 64 bits: when n grows to m, only the share (m-n)/m of the keys
// moves, all of it to new shards. The name does not matter to it, so two groups with one n have a
// key in the shards of one number. It is 0 if n is below 1. The n of a group never changes, see
// [Shards]: a larger one belongs to a group of another name.
func ShardOf(name string, n int, key string) int {
	_ = name
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // never fails
	state, shard := h.Sum64(), 0
	for {
		state = state*2862933555777941757 + 1
		// Compared as it is: of a huge n the product is larger than an int.
		next := float64(shard+1) * (float64(1<<31) / float64(state>>33+1))
		if next >= float64(max(n, 1)) {
			return shard
		}
		shard = int(next)
	}
}

// maxShards is how many shards a group has at most. The processes could not plan for more.
const maxShards = 100_000

// validateShards refuses what Shards cannot make, and another number of shards than the group has
// among the roles of this process.
func (r Role) validateShards(groups map[string]int) error {
	switch n := groups[r.Group]; {
	case !r.sharded:
		return nil
	case r.Group == "":
		return &ConfigError{"Shards", "a group of shards has no name: give it one"}
	case r.shards < 1 || r.shards > maxShards:
		return &ConfigError{"Shards", fmt.Sprintf("group %q has %d shards: use 1 to %d", r.Group, r.shards, maxShards)}
	case n > 0 && n != r.shards:
		return fmt.Errorf("%w: group %q is added with %d and with %d: use one of them, or another name for the group",
			ErrShardCount, r.Group, n, r.shards)
	}
	return nil
}

// countShards notes how many shards the group of a role has. The first number counts.
func (r Role) countShards(groups map[string]int) {
	if r.sharded && groups[r.Group] == 0 {
		groups[r.Group] = r.shards
	}
}
