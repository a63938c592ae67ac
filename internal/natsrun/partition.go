package natsrun

import "fmt"

// Kill takes server i down as abruptly as one process can take down a part of itself. First the
// server is cut off, so that nobody receives its last messages (leaders stepping down, farewells to
// clients). Then it is stopped, and then the others see their connections break. Its writes are
// flushed nevertheless: to test lost writes, kill a process.
func (c *Cluster) Kill(i int) {
	if c.down[i] {
		return
	}
	c.down[i] = true
	c.fronts[i].sever(true)
	c.isolate()
	c.shut(i)
	c.nodes[i].Stop()
	c.fronts[i].sever(false)
	for j := range c.nodes {
		if i != j {
			c.routes[i][j].Reset()
			c.routes[j][i].Reset()
		}
	}
}

// Stop takes server i down cleanly: it gives its leaderships away and announces that.
func (c *Cluster) Stop(i int) {
	if c.down[i] {
		return
	}
	c.shut(i) // first: another process may be given its ports
	c.nodes[i].Stop()
	c.down[i] = true
	c.isolate()
}

// Restart brings server i up again on its store and address, and first stops it if it is up.
// Partitions stay.
func (c *Cluster) Restart(i int) error {
	c.Stop(i)
	if err := c.nodes[i].Restart(); err != nil {
		return err
	}
	c.open(i)
	c.down[i] = false
	c.isolate()
	return nil
}

// Partition cuts the routes between servers of different groups; servers that are in no group form
// one together. It replaces the previous partition. Clients still reach every server:
// Front(i).Cut() cuts them off too. Faults of Route stay.
//
// Error: a server that does not exist or is in two groups. Nothing has changed then.
func (c *Cluster) Partition(groups ...[]int) error {
	group := make([]int, len(c.nodes))
	for g, members := range groups {
		for _, i := range members {
			if i < 0 || i >= len(group) {
				return fmt.Errorf("natsrun: partition: no server %d in a cluster of %d", i, len(group))
			}
			if group[i] != 0 {
				return fmt.Errorf("natsrun: partition: server %d is in two groups", i)
			}
			group[i] = g + 1
		}
	}
	c.group = group
	c.isolate()
	return nil
}

// HealPartition brings all servers together again. Routes that were cut are reset; servers dial
// them again within about a second.
func (c *Cluster) HealPartition() {
	clear(c.group)
	c.isolate()
}

// isolate adapts the routes to down and group. Their faults stay as they are.
func (c *Cluster) isolate() {
	for i := range c.nodes {
		for j := range c.nodes {
			if i != j {
				c.routes[i][j].sever(c.down[i] || c.down[j] || c.group[i] != c.group[j])
			}
		}
	}
}
