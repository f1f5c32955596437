package io.troupe.tasks.columns;

import com.fasterxml.jackson.databind.JsonNode;

/** The values of one column of a batch. */
@FunctionalInterface
interface ArrowColumn {
  /** Returns the value of a row, from 0. */
  JsonNode at(int row);
}
