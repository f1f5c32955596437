package io.troupe.ranks;

import io.troupe.ranks.protocol.RankClient;
import java.io.IOException;

/** The place of a rank in its group: whom to ask, and what to do about one that does not answer. */
interface RankSlot {
  /** Of the rank, from 0; the same in every group. */
  int number();

  /**
   * Whom to ask.
   *
   * @throws IOException if nobody is there
   */
  RankClient call() throws IOException;

  /** Ends the process; another one is started for it. */
  void end();

  /** Closes the connection, in the middle of whatever another thread hears. */
  void disconnect();

  /**
   * What became of the process, in words.
   *
   * @param seen when it was asked
   */
  String describeEnd(IOException seen);
}
