// Package lab is the three sites of examples/datacenters, with real NATS servers and a network that
// can be cut.
//
// Each site has two servers. One is a member of a cluster over all sites, whose JetStream has the
// domain "hub": a stream with three replicas has one at each site, and survives the loss of any one
// of them. The other is a leaf node of the first, with a JetStream of its own in a domain named
// after the site: it works on when the site is cut off. Programs of a site connect to that one.
package lab
