"""The tests mirror src/riverlog; see CONTRIBUTING for the seven kinds."""
