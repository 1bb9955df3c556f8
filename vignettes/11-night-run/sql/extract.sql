SELECT row_id, person_id, born, sector, wage, part_time
FROM spells
