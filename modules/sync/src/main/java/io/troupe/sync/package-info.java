/**
 * Copies of run folders in a store of objects: uploaded while runs continue, downloaded elsewhere.
 */
@NullMarked
package io.troupe.sync;

import org.jspecify.annotations.NullMarked;
