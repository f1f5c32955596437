package io.troupe.sim.model;

import static io.troupe.core.Require.require;

/**
 * The time of new weights on their way to the workers: a copy, a tree of links, and the load of
 * each engine.
 *
 * @param copySeconds until the first node can fetch
 * @param bytes of a version on a link; 0 where all is in one process
 * @param linkBytesPerSecond of each link
 * @param fanOut links that a node feeds at a time
 * @param loadSeconds in which an engine does not decode
 */
public record PublishModel(
    double copySeconds, double bytes, double linkBytesPerSecond, int fanOut, double loadSeconds) {
  public PublishModel {
    require(
        copySeconds >= 0 && bytes >= 0 && loadSeconds >= 0,
        "publication: copy_seconds, bytes and load_seconds are not negative");
    require(linkBytesPerSecond > 0, "publication.link_bytes_per_second is above 0");
    require(fanOut >= 1, "publication.fan_out is 1 or more, not %s", fanOut);
  }

  /** Seconds until a node has a version that is published, by its place in the tree. */
  public double fetchSeconds(int node) {
    int hops = 1;
    for (long reached = fanOut; reached <= node; reached = reached * fanOut + fanOut) {
      hops++;
    }
    return hops * bytes / linkBytesPerSecond;
  }
}
