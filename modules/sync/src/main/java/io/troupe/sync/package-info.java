/** Copies of run folders in a store of objects: uploaded while runs go on, downloaded elsewhere. */
@NullMarked
package io.troupe.sync;

import org.jspecify.annotations.NullMarked;
